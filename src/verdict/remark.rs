//! Remarks on the input of two revisions: what could not be read or not be told.

use super::Revision;
use crate::model::{Diagnostic, Unresolved};
use std::collections::BTreeSet;

/// A remark with the revision that it is about.
#[derive(Debug, Clone)]
pub struct Remark<T> {
    /// After, where it stands in both.
    pub revision: Revision,
    /// The change has nothing to do with it, as far as the remark itself tells.
    pub in_both: bool,
    pub entry: T,
}

/// What makes two remarks the same, wherever in the file they stand now.
pub trait Identity {
    type Key: Ord;

    fn identity(&self) -> Self::Key;
}

impl Identity for Diagnostic {
    type Key = (&'static str, String, Option<String>);

    fn identity(&self) -> Self::Key {
        (self.code, self.message.clone(), self.path.clone())
    }
}

impl Identity for Unresolved {
    type Key = (String, String, Option<String>);

    fn identity(&self) -> Self::Key {
        (self.what.clone(), self.why.clone(), self.span.as_ref().map(|span| span.path.to_string()))
    }
}

/// The remarks of both revisions, each once: those that went away with the change, then those of the after side.
pub fn remarks<T: Identity>(before: Vec<T>, after: Vec<T>) -> Vec<Remark<T>> {
    let known: BTreeSet<T::Key> = before.iter().map(Identity::identity).collect();
    let mut said: BTreeSet<T::Key> = BTreeSet::new();
    let mut now = Vec::new();
    for entry in after {
        let key = entry.identity();
        let in_both = known.contains(&key);
        if said.insert(key) {
            now.push(Remark { revision: Revision::After, in_both, entry });
        }
    }
    let gone = before.into_iter().filter(|entry| said.insert(entry.identity()));
    let mut all: Vec<Remark<T>> =
        gone.map(|entry| Remark { revision: Revision::Before, in_both: false, entry }).collect();
    all.extend(now);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DiagnosticLevel;

    #[test]
    fn each_remark_is_said_once_with_where_it_stands() {
        let remark = |message: &str| Diagnostic::new(DiagnosticLevel::Error, "sql-syntax", message);
        let all = remarks(vec![remark("gone"), remark("stays")], vec![remark("stays"), remark("stays"), remark("new")]);
        let shown: Vec<_> = all.iter().map(|r| (r.entry.message.as_str(), r.revision, r.in_both)).collect();
        let expected =
            [("gone", Revision::Before, false), ("stays", Revision::After, true), ("new", Revision::After, false)];
        assert_eq!(shown, expected);
    }
}
