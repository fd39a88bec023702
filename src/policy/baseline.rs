//! A file of accepted findings, keyed by what they say and not by where they stand.

use crate::model::{Diagnostic, DiagnosticLevel};
use crate::rules::Finding;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

const VERSION: u64 = 1;
/// Stale entries told one by one.
const STALE_TOLD: usize = 5;

/// Identity of a finding that survives moved lines and files: rule, pipeline, dataset, flow and message, as 32 hexadecimal digits.
pub fn fingerprint(finding: &Finding) -> String {
    let dataset = finding.dataset.as_ref().map(|dataset| dataset.key()).unwrap_or_default();
    let flow = finding.flow.clone().unwrap_or_default();
    fingerprint_of(&[&finding.rule, &finding.pipeline, &dataset, &flow, &finding.message])
}

/// A key of these parts, in this order.
pub fn fingerprint_of(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Accepted findings by fingerprint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    /// Where it was read from.
    path: String,
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    rule: String,
    dataset: Option<String>,
    message: String,
}

impl Baseline {
    /// Everything in a list of findings.
    pub fn of<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Self {
        let entry = |finding: &Finding| Entry {
            rule: finding.rule.clone(),
            dataset: finding.dataset.as_ref().map(ToString::to_string),
            message: finding.message.clone(),
        };
        let entries = findings.into_iter().map(|finding| (fingerprint(finding), entry(finding))).collect();
        Baseline { path: String::new(), entries }
    }

    /// Reads a baseline file.
    ///
    /// # Errors
    /// What is wrong with it, in the user's words.
    pub fn parse(path: &str, text: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("`{path}` is no baseline: {what}");
        let value: Value = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
        if value.get("version").and_then(Value::as_u64) != Some(VERSION) {
            return Err(wrong(&format!("`version` must be {VERSION}")));
        }
        let list = value.get("findings").and_then(Value::as_array).ok_or_else(|| wrong("`findings` must be a list"))?;
        let mut entries = BTreeMap::new();
        for item in list {
            let text = |key: &str| item.get(key).and_then(Value::as_str).map(str::to_owned);
            let (Some(fingerprint), Some(rule), Some(message)) = (text("fingerprint"), text("rule"), text("message"))
            else {
                return Err(wrong("a finding needs `fingerprint`, `rule` and `message`"));
            };
            entries.insert(fingerprint, Entry { rule, dataset: text("dataset"), message });
        }
        Ok(Baseline { path: path.to_owned(), entries })
    }

    /// The file's text, sorted so that it merges well.
    pub fn render(&self) -> String {
        let mut sorted: Vec<_> = self.entries.iter().collect();
        sorted.sort_by_key(|(key, entry)| (&entry.rule, &entry.dataset, &entry.message, *key));
        let findings: Vec<Value> = sorted
            .into_iter()
            .map(|(key, entry)| {
                let mut item = Map::new();
                item.insert("rule".to_owned(), entry.rule.as_str().into());
                item.insert("dataset".to_owned(), entry.dataset.as_deref().into());
                item.insert("message".to_owned(), entry.message.as_str().into());
                item.insert("fingerprint".to_owned(), key.as_str().into());
                Value::Object(item)
            })
            .collect();
        format!("{:#}\n", json!({ "version": VERSION, "findings": findings }))
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The finding's key, where it is accepted.
    pub(super) fn find(&self, finding: &Finding) -> Option<String> {
        Some(fingerprint(finding)).filter(|key| self.entries.contains_key(key))
    }

    /// Entries that no finding answers to any more, of rules that were asked.
    pub(super) fn stale(&self, used: &BTreeSet<String>, judged: &dyn Fn(&str) -> bool) -> Vec<Diagnostic> {
        let entries = self.entries.iter().filter(|(key, entry)| !used.contains(*key) && judged(&entry.rule));
        let stale: Vec<&Entry> = entries.map(|(_, entry)| entry).collect();
        let tell = |message: String| {
            Diagnostic::new(DiagnosticLevel::Warning, "stale-baseline", message)
                .in_file(&self.path)
                .with_help("`pipelint baseline` writes the file anew")
        };
        let mut told: Vec<Diagnostic> = stale
            .iter()
            .take(STALE_TOLD)
            .map(|entry| {
                let dataset = entry.dataset.as_deref().map(|name| format!(" of {name}")).unwrap_or_default();
                tell(format!("an accepted finding is gone: {}{dataset}: {}", entry.rule, entry.message))
            })
            .collect();
        let left_out = stale.len().saturating_sub(STALE_TOLD);
        if left_out > 0 {
            told.push(tell(format!("{left_out} more accepted findings are gone")));
        }
        told
    }
}
