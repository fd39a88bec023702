//! All rules: the embedded ones, the user's own, and severities as configured.

use super::coverage::Coverage;
use super::document::RuleError;
use super::remedy::RemedyBook;
use super::rule::Rule;
use crate::model::{Diagnostic, DiagnosticLevel, Platform, Severity};
use include_dir::{Dir, include_dir};
use std::collections::BTreeMap;

static EMBEDDED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/rules");

const REMEDIES: &str = "remedies.yaml";
const COVERAGE: &str = "coverage.yaml";

#[derive(Debug, Clone, Default)]
pub struct RuleBook {
    /// By category, then id.
    rules: Vec<Rule>,
    coverage: Coverage,
}

impl RuleBook {
    /// The embedded rules, then the files of the user's rule folders (`rules.extra`, as path and text), then severities by rule
    /// id. What is wrong in them is told and left out; the rest holds.
    pub fn load(extra: &[(String, String)], severities: &BTreeMap<String, Severity>) -> (Self, Vec<Diagnostic>) {
        let mut diagnostics = Vec::new();
        let mut book = match Self::embedded() {
            Ok(book) => book,
            Err(error) => {
                diagnostics.push(error.into());
                RuleBook::default()
            }
        };
        diagnostics.extend(book.add_files(extra));
        for (id, severity) in severities {
            match book.rules.iter_mut().find(|rule| rule.id == *id) {
                Some(rule) => rule.set_severity(*severity),
                None => diagnostics.push(book.unknown_rule(id)),
            }
        }
        (book, diagnostics)
    }

    /// The embedded rules alone.
    ///
    /// # Errors
    /// A broken rule file; tests keep that from being released.
    pub fn embedded() -> Result<Self, RuleError> {
        let text = |name: &str| EMBEDDED.get_file(name).and_then(|file| file.contents_utf8()).unwrap_or_default();
        let remedies = RemedyBook::parse(&path(REMEDIES), text(REMEDIES))?;
        let coverage = Coverage::parse(&path(COVERAGE), text(COVERAGE))?;
        let mut rules = Vec::new();
        for folder in EMBEDDED.dirs() {
            for file in folder.files() {
                let name = path(&file.path().to_string_lossy());
                rules.push(Rule::parse(&name, file.contents_utf8().unwrap_or_default(), &remedies)?);
            }
        }
        let mut book = RuleBook { rules, coverage };
        book.sort();
        Ok(book)
    }

    /// Adds the user's rules. A `remedies.yaml` among them serves them all; an id that exists already replaces the embedded rule.
    fn add_files(&mut self, files: &[(String, String)]) -> Vec<Diagnostic> {
        let mut diagnostics: Vec<Diagnostic> = Vec::new();
        let embedded = EMBEDDED.get_file(REMEDIES).and_then(|file| file.contents_utf8()).unwrap_or_default();
        let mut remedies = RemedyBook::parse(&path(REMEDIES), embedded).unwrap_or_default();
        let is_remedies = |path: &str| path.rsplit('/').next() == Some(REMEDIES);
        for (path, text) in files.iter().filter(|(path, _)| is_remedies(path)) {
            match RemedyBook::parse(path, text) {
                Ok(own) => remedies.extend(own),
                Err(error) => diagnostics.push(error.into()),
            }
        }
        for (path, text) in files.iter().filter(|(path, _)| !is_remedies(path)) {
            match Rule::parse(path, text, &remedies) {
                Ok(rule) => {
                    self.rules.retain(|known| known.id != rule.id);
                    self.rules.push(rule);
                }
                Err(error) => diagnostics.push(error.into()),
            }
        }
        self.sort();
        diagnostics
    }

    fn sort(&mut self) {
        self.rules.sort_by(|x, y| (&x.category, &x.id).cmp(&(&y.category, &y.id)));
    }

    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub fn rule(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == id)
    }

    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// Rules that answer to a kind of change on a platform.
    pub fn answering(&self, kind: &str, platform: Platform) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| rule.change == kind && rule.platforms.contains(&platform))
    }

    /// The message for a rule id that does not exist, with the nearest one that does.
    pub fn unknown_rule(&self, id: &str) -> Diagnostic {
        let ratio = |rule: &&Rule| similar::TextDiff::from_chars(id, rule.id.as_str()).ratio();
        let nearest = self.rules.iter().max_by(|x, y| ratio(x).total_cmp(&ratio(y))).filter(|rule| ratio(rule) > 0.6);
        let diagnostic = Diagnostic::new(DiagnosticLevel::Error, "unknown-rule", format!("there is no rule `{id}`"));
        match nearest {
            Some(rule) => diagnostic.with_help(format!("did you mean `{}`?", rule.id)),
            None => diagnostic.with_help("`pipelint rules` lists all rules"),
        }
    }
}

/// Where an embedded file stands in this repository.
fn path(name: &str) -> String {
    format!("rules/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::kinds::KINDS;
    use std::collections::BTreeSet;

    fn book() -> RuleBook {
        RuleBook::embedded().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn every_rule_reads_and_no_two_share_an_id() {
        let book = book();
        let ids: BTreeSet<_> = book.rules().iter().map(|rule| rule.id.as_str()).collect();
        assert_eq!(ids.len(), book.rules().len());
    }

    #[test]
    fn every_kind_of_change_has_a_rule() {
        let book = book();
        let answered: BTreeSet<_> = book.rules().iter().map(|rule| rule.change).collect();
        let silent: Vec<_> = KINDS.iter().map(|kind| kind.id).filter(|id| !answered.contains(id)).collect();
        assert_eq!(silent, Vec::<&str>::new());
    }

    #[test]
    fn every_row_that_a_rule_covers_is_a_row() {
        let book = book();
        for rule in book.rules() {
            for row in &rule.covers {
                assert!(book.coverage().rows().iter().any(|known| known.id == *row), "{}: no row {row}", rule.id);
            }
            assert!(!rule.sources.is_empty(), "{}: no source named", rule.id);
        }
    }

    #[test]
    fn every_row_is_covered() {
        let book = book();
        let gaps: Vec<_> =
            book.coverage().rows().iter().filter(|row| book.covered_by(row).is_empty()).map(|row| &row.id).collect();
        assert_eq!(gaps, Vec::<&String>::new());
    }

    #[test]
    fn a_severity_for_an_unknown_rule_is_told_with_the_nearest_name() {
        let (_, diagnostics) = RuleBook::load(&[], &BTreeMap::from([("dedup-key-changed".to_owned(), Severity::Off)]));
        assert_eq!(diagnostics.len(), 1);
        assert_eq!(diagnostics.first().and_then(|d| d.help.as_deref()), Some("did you mean `dedup-keys-changed`?"));
    }

    #[test]
    fn a_user_rule_with_an_unknown_key_is_told_with_its_line() {
        let text = "id: mine\nname: mine\ncolour: red\n";
        let (_, diagnostics) = RuleBook::load(&[("rules/own/mine.yaml".into(), text.into())], &BTreeMap::new());
        let place = diagnostics.first().and_then(|d| d.span.as_ref()).map(|span| (span.path.to_string(), span.line));
        assert_eq!(place, Some(("rules/own/mine.yaml".to_owned(), 3)));
    }
}
