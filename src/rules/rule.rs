//! One rule: which change it answers to, what it claims, why, and what to do.

use super::condition::Condition;
use super::document::{Document, RuleError};
use super::remedy::{Remedy, RemedyBook};
use super::template::Template;
use crate::diff::{Facts, kinds};
use crate::model::{Effect, FullRefresh, Platform, Severity};
use serde_yaml::{Mapping, Value};

/// Keys of a rule file, in the order they must stand in.
const KEYS: &[&str] = &[
    "id",
    "name",
    "covers",
    "platforms",
    "change",
    "when",
    "severity",
    "effect",
    "expected",
    "harmless",
    "full_refresh",
    "error_class",
    "confirmable",
    "exceptions",
    "message",
    "why",
    "remedies",
    "sources",
    "disagreements",
];

const EXCEPTION_KEYS: &[&str] =
    &["when", "severity", "effect", "expected", "harmless", "full_refresh", "error_class", "confirmable", "because"];

/// What a rule says will happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub severity: Severity,
    pub effect: ClaimedEffect,
    /// Severity where the engine is asked and sees no effect.
    pub harmless: Option<Severity>,
    pub full_refresh: FullRefresh,
    /// Error class that the platform gives, where the effect is a refusal.
    pub error_class: Option<String>,
    /// False where no engine of ours can show the claim: it rests on what the platform's documents say.
    pub confirmable: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimedEffect {
    Certain(Effect),
    /// `effect: observed`: the kind of change cannot tell, an engine decides. Holds what to expect where none ran.
    Observed(Effect),
}

impl ClaimedEffect {
    /// The effect to go by without an engine.
    pub fn effect(self) -> Effect {
        match self {
            ClaimedEffect::Certain(effect) | ClaimedEffect::Observed(effect) => effect,
        }
    }
}

/// A claim that holds in place of the rule's own where its condition does.
#[derive(Debug, Clone)]
pub struct Exception {
    pub when: Condition,
    pub claim: Claim,
    pub because: String,
}

#[derive(Debug, Clone)]
pub struct Rule {
    pub id: String,
    /// Reads as "allow ${name}".
    pub name: String,
    /// The folder it stands in.
    pub category: String,
    /// Rows of `rules/coverage.yaml`.
    pub covers: Vec<String>,
    pub platforms: Vec<Platform>,
    pub change: &'static str,
    pub when: Condition,
    pub claim: Claim,
    pub exceptions: Vec<Exception>,
    pub message: Template,
    pub why: String,
    pub remedies: Vec<Remedy>,
    pub sources: Vec<String>,
    /// Where sources contradict each other, or real Spark contradicts them.
    pub disagreements: Vec<String>,
}

impl Rule {
    /// Reads a rule file. The category is the folder's name and the id must be the file's.
    ///
    /// # Errors
    /// Whatever is wrong first, with its line.
    pub fn parse(path: &str, text: &str, remedies: &RemedyBook) -> Result<Self, RuleError> {
        let document = Document::new(path, text);
        let mapping = document.mapping()?;
        document.check_keys(&mapping, KEYS)?;
        let id = document.text(&mapping, "id")?;
        let mut parts = path.rsplit('/');
        if parts.next() != Some(format!("{id}.yaml").as_str()) {
            return Err(document.error("id", format!("the file of rule `{id}` must be named {id}.yaml")));
        }
        let category = parts.next().unwrap_or("custom").to_owned();
        let change = document.text(&mapping, "change")?;
        let kind =
            kinds::kind(&change).ok_or_else(|| document.error("change", format!("`{change}` is no kind of change")))?;
        let known: Vec<&str> = kinds::COMMON.iter().chain(kind.facts).copied().collect();
        let claim = parse_claim(&document, &mapping, None)?;
        Ok(Rule {
            name: document.text(&mapping, "name")?,
            category,
            covers: document.texts(&mapping, "covers")?,
            platforms: parse_platforms(&document, &mapping)?,
            change: kind.id,
            when: match mapping.get("when") {
                Some(value) => Condition::parse(value, &known, &document)?,
                None => Condition::always(),
            },
            exceptions: parse_exceptions(&document, &mapping, &claim, &known)?,
            claim,
            message: Template::parse(&document.text(&mapping, "message")?, &known, "message", &document)?,
            why: document.text(&mapping, "why")?,
            remedies: remedies.resolve(mapping.get("remedies"), &known, &document)?,
            sources: document.texts(&mapping, "sources")?,
            disagreements: document.texts(&mapping, "disagreements")?,
            id,
        })
    }

    /// Sets the severity of every claim.
    pub fn set_severity(&mut self, severity: Severity) {
        for claim in std::iter::once(&mut self.claim).chain(self.exceptions.iter_mut().map(|each| &mut each.claim)) {
            claim.severity = severity;
            claim.harmless = None;
        }
    }

    /// The claim for a change that this rule answers to, with the reason where an exception holds.
    pub fn claim_for(&self, facts: &Facts) -> (&Claim, Option<&str>) {
        match self.exceptions.iter().find(|exception| exception.when.holds(facts)) {
            Some(exception) => (&exception.claim, Some(&exception.because)),
            None => (&self.claim, None),
        }
    }
}

fn parse_platforms(document: &Document, mapping: &Mapping) -> Result<Vec<Platform>, RuleError> {
    let words = document.texts(mapping, "platforms")?;
    if words.is_empty() {
        return Err(document.error("platforms", "`platforms` must name lakeflow, spark or both".to_owned()));
    }
    words.iter().map(|word| document.word("platforms", word)).collect()
}

/// Reads a claim; with `base` given (an exception), what is not said is as there.
fn parse_claim(document: &Document, mapping: &Mapping, base: Option<&Claim>) -> Result<Claim, RuleError> {
    let word = |key: &str| document.optional_text(mapping, key);
    let missing = |key: &str| document.error(key, format!("`{key}` is missing"));
    let severity = match word("severity")? {
        Some(text) => document.word("severity", &text)?,
        None => base.ok_or_else(|| missing("severity"))?.severity,
    };
    let full_refresh = match word("full_refresh")? {
        Some(text) => document.word("full_refresh", &text)?,
        None => base.ok_or_else(|| missing("full_refresh"))?.full_refresh,
    };
    let expected = word("expected")?;
    let effect = match word("effect")?.as_deref() {
        Some("observed") => {
            let text = expected.ok_or_else(|| missing("expected"))?;
            ClaimedEffect::Observed(document.word("expected", &text)?)
        }
        Some(_) if expected.is_some() => {
            return Err(document.error("expected", "`expected` belongs to `effect: observed` only".to_owned()));
        }
        Some(text) => ClaimedEffect::Certain(document.word("effect", text)?),
        None => base.ok_or_else(|| missing("effect"))?.effect,
    };
    let error_class = match word("error_class")? {
        Some(class) => Some(class),
        None => base.filter(|base| base.effect == effect).and_then(|base| base.error_class.clone()),
    };
    let confirmable = document.flag(mapping, "confirmable")?.unwrap_or(base.is_none_or(|base| base.confirmable));
    let harmless = match word("harmless")? {
        Some(_) if matches!(effect, ClaimedEffect::Certain(_)) => {
            return Err(document.error("harmless", "`harmless` belongs to `effect: observed` only".to_owned()));
        }
        Some(text) => Some(document.word("harmless", &text)?),
        None => base.filter(|base| base.effect == effect).and_then(|base| base.harmless),
    };
    Ok(Claim { severity, effect, harmless, full_refresh, error_class, confirmable })
}

fn parse_exceptions(
    document: &Document,
    mapping: &Mapping,
    base: &Claim,
    known: &[&str],
) -> Result<Vec<Exception>, RuleError> {
    let items = match mapping.get("exceptions") {
        None => return Ok(Vec::new()),
        Some(Value::Sequence(items)) => items,
        Some(_) => return Err(document.error("exceptions", "`exceptions` must be a list".to_owned())),
    };
    items
        .iter()
        .map(|item| {
            let Value::Mapping(entry) = item else {
                return Err(document.error("exceptions", "an exception is a mapping".to_owned()));
            };
            document.check_keys(entry, EXCEPTION_KEYS)?;
            let when = entry.get("when").ok_or_else(|| document.error("exceptions", "`when` is missing".to_owned()))?;
            Ok(Exception {
                when: Condition::parse(when, known, document)?,
                claim: parse_claim(document, entry, Some(base))?,
                because: document.text(entry, "because")?,
            })
        })
        .collect()
}
