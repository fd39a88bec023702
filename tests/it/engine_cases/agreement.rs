//! How often the engine and Spark say the same, and where they do not.

use std::collections::BTreeMap;
use std::fmt;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The effect on a table, with the case's own rows.
    Effect,
    /// The class of the error that refuses a flow.
    Error,
    /// The rows of a table at one moment.
    Rows,
    /// The coarse effect on a table, with generated rows: whether it is equal, differs, or is refused.
    Generated,
    /// The effect that a comparison of both revisions reports.
    Reported,
    /// Whether a comparison fails where Spark does, and only there.
    Exit,
}

impl Subject {
    pub fn named(word: &str) -> Option<Self> {
        [Subject::Effect, Subject::Error, Subject::Rows, Subject::Generated, Subject::Reported, Subject::Exit]
            .into_iter()
            .find(|subject| subject.to_string() == word)
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Subject::Effect => "effect",
            Subject::Error => "error",
            Subject::Rows => "rows",
            Subject::Generated => "generated",
            Subject::Reported => "reported",
            Subject::Exit => "exit",
        })
    }
}

#[derive(Debug, Default)]
pub struct Agreement {
    /// How many comparisons agree, of how many.
    counts: BTreeMap<Subject, (usize, usize)>,
    differences: Vec<(Subject, String)>,
}

impl Agreement {
    /// Notes one comparison; `difference` tells what is not the same.
    pub fn note(&mut self, subject: Subject, agrees: bool, difference: impl FnOnce() -> String) {
        let (same, of) = self.counts.entry(subject).or_default();
        *of += 1;
        if agrees {
            *same += 1;
        } else {
            self.differences.push((subject, difference()));
        }
    }

    pub fn add(&mut self, other: Agreement) {
        for (subject, (same, of)) in other.counts {
            let count = self.counts.entry(subject).or_default();
            count.0 += same;
            count.1 += of;
        }
        self.differences.extend(other.differences);
    }

    /// Differences that nobody has explained, and explanations of what does not differ.
    pub fn unexpected<'a>(&'a self, known: &'a BTreeMap<Subject, String>) -> impl Iterator<Item = String> + 'a {
        let unexplained = self
            .differences
            .iter()
            .filter(|(subject, _)| !known.contains_key(subject))
            .map(|(subject, text)| format!("{subject}: {text}"));
        let stale = known
            .keys()
            .filter(|subject| !self.differences.iter().any(|(other, _)| other == *subject))
            .map(|subject| format!("`disagrees: {subject}` is stale, take it out of case.yaml"));
        unexplained.chain(stale)
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<String> =
            self.counts.iter().map(|(subject, (same, of))| format!("{subject} {same}/{of}")).collect();
        f.write_str(&counts.join(", "))
    }
}
