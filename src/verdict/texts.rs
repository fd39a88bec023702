//! Texts of the files that places of a report stand in.

use super::Revision;
use crate::model::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Texts by revision and path.
#[derive(Debug, Clone, Default)]
pub struct Texts(BTreeMap<(Revision, Arc<str>), Arc<str>>);

impl Texts {
    pub fn add(&mut self, revision: Revision, path: &Arc<str>, read: impl FnOnce() -> Option<Arc<str>>) {
        let key = (revision, Arc::clone(path));
        if !self.0.contains_key(&key)
            && let Some(text) = read()
        {
            self.0.insert(key, text);
        }
    }

    pub fn get(&self, revision: Revision, path: &str) -> Option<&str> {
        self.0.get(&(revision, path.into())).map(AsRef::as_ref)
    }

    /// The lines of a place, at most `lines` of them, without their common indent.
    pub fn excerpt(&self, revision: Revision, span: &Span, lines: usize) -> Option<String> {
        if span.cell.is_some() && span.path.ends_with(".ipynb") {
            return None;
        }
        let first = usize::try_from(span.line).ok()?.max(1);
        let last = usize::try_from(span.end_line).ok()?.max(first);
        let all: Vec<&str> = self.get(revision, &span.path)?.lines().skip(first - 1).take(last - first + 1).collect();
        let indent = |line: &&&str| line.len() - line.trim_start().len();
        let common = all.iter().filter(|line| !line.trim().is_empty()).map(|line| indent(&line)).min().unwrap_or(0);
        let mut shown: Vec<&str> = all.iter().take(lines).map(|line| line.get(common..).unwrap_or_default()).collect();
        if all.len() > lines {
            shown.push("…");
        }
        (!shown.is_empty()).then(|| shown.join("\n"))
    }
}
