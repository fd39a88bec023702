//! What tables, sources and topics are called in the schema of a run: by the last part of their names, longer where that is taken.

use crate::analyze::Analysis;
use crate::engine::{TableFormat, source_location};
use crate::model::{DatasetKind, QualifiedName, SourceFacts};
use std::collections::{BTreeMap, BTreeSet};

/// Names by the identity of what they name: a table's key, or a source's location.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    tables: BTreeMap<String, String>,
    sources: BTreeMap<String, String>,
}

impl Names {
    /// For what these revisions write, and the sources that they read.
    pub fn of<'a>(
        analyses: impl IntoIterator<Item = &'a Analysis>,
        sources: impl IntoIterator<Item = &'a SourceFacts>,
    ) -> Names {
        let (mut tables, mut views): (BTreeSet<String>, BTreeSet<String>) = Default::default();
        for pipeline in analyses.into_iter().flat_map(|analysis| &analysis.workspace.pipelines) {
            let stored = pipeline.datasets.iter().filter(|d| !matches!(d.kind, DatasetKind::View | DatasetKind::Sink));
            tables.extend(stored.map(|dataset| dataset.name.key()));
            let of_query = pipeline.datasets.iter().filter(|dataset| dataset.kind == DatasetKind::View);
            views.extend(of_query.map(|dataset| dataset.name.name.to_lowercase()));
        }
        let mut others: BTreeMap<String, String> = BTreeMap::new();
        for facts in sources {
            match table_name(facts) {
                Some(name) => {
                    tables.insert(name.key());
                }
                None => {
                    let at = source_location(facts);
                    let last = at.rsplit('/').find(|part| !part.is_empty() && !part.contains('*'));
                    others.entry(at.clone()).or_insert_with(|| last.unwrap_or("source").to_owned());
                }
            }
        }
        choose(&tables, &others, &views)
    }

    /// A table's name in the schema of the run; with the letter case of its own name, which Spark's checkpoints keep.
    pub fn table(&self, name: &QualifiedName) -> Option<String> {
        let chosen = self.tables.get(&name.key())?;
        let own = sanitized(&name.name);
        Some(if own.eq_ignore_ascii_case(chosen) { own } else { chosen.clone() })
    }

    /// The table that stands for a source.
    pub fn source(&self, facts: &SourceFacts) -> Option<String> {
        match table_name(facts) {
            Some(name) => self.table(&name),
            None => self.sources.get(&source_location(facts)).cloned(),
        }
    }
}

/// The name that code reads a source by, where that is a table's.
pub fn table_name(facts: &SourceFacts) -> Option<QualifiedName> {
    let topic = facts.format.as_deref().map(TableFormat::named) == Some(TableFormat::Topic);
    (!facts.name.contains('/') && !topic).then(|| QualifiedName::parse(&facts.name))
}

/// Views keep their names, and no table has one of them: Spark would take a view for the table that it reads.
fn choose(tables: &BTreeSet<String>, others: &BTreeMap<String, String>, views: &BTreeSet<String>) -> Names {
    let mut taken: BTreeMap<String, usize> = views.iter().map(|view| (view.clone(), 1)).collect();
    let last = |key: &str| sanitized(&QualifiedName::parse(key).name).to_lowercase();
    for key in tables {
        *taken.entry(last(key)).or_default() += 1;
    }
    let mut names = Names::default();
    for key in tables {
        let short = last(key);
        let name = QualifiedName::parse(key);
        let unique = taken.get(&short) == Some(&1);
        let chosen = if unique { short } else { name.parts().map(sanitized).collect::<Vec<_>>().join("__") };
        let chosen = chosen.to_lowercase();
        let free = if views.contains(&chosen) { format!("{chosen}_table") } else { chosen };
        names.tables.insert(key.clone(), free);
    }
    let mut used: BTreeSet<String> = names.tables.values().chain(views).cloned().collect();
    for (location, last) in others {
        let base = sanitized(last).to_lowercase();
        let free = (1..).map(|n| if n == 1 { base.clone() } else { format!("{base}_{n}") }).find(|n| !used.contains(n));
        let chosen = free.unwrap_or(base);
        used.insert(chosen.clone());
        names.sources.insert(location.clone(), chosen);
    }
    names
}

/// A text as part of a folder's or a table's name.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

fn sanitized(name: &str) -> String {
    let plain = plain(name);
    if plain.starts_with(|c: char| c.is_ascii_digit()) || plain.is_empty() { format!("t_{plain}") } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_that_two_tables_share_is_written_in_full() {
        let tables =
            BTreeSet::from(["main.a.orders".to_owned(), "main.b.orders".to_owned(), "main.b.users".to_owned()]);
        let others = BTreeMap::from([
            ("/landing/users".to_owned(), "users".to_owned()),
            ("/landing/2024-01".to_owned(), "2024-01".to_owned()),
        ]);
        let names = choose(&tables, &others, &BTreeSet::new());
        assert_eq!(names.table(&QualifiedName::parse("main.a.Orders")).as_deref(), Some("main__a__orders"));
        assert_eq!(names.table(&QualifiedName::parse("main.b.Users")).as_deref(), Some("Users"));
        assert_eq!(names.sources["/landing/users"], "users_2");
        assert_eq!(names.sources["/landing/2024-01"], "t_2024_01");
    }

    #[test]
    fn no_table_has_the_name_of_a_view() {
        let tables = BTreeSet::from(["main.a.orders".to_owned(), "lines".to_owned()]);
        let others = BTreeMap::from([("/landing/users".to_owned(), "users".to_owned())]);
        let views = BTreeSet::from(["orders".to_owned(), "lines".to_owned(), "users".to_owned()]);
        let names = choose(&tables, &others, &views);
        assert_eq!(names.table(&QualifiedName::parse("main.a.orders")).as_deref(), Some("main__a__orders"));
        assert_eq!(names.table(&QualifiedName::parse("lines")).as_deref(), Some("lines_table"));
        assert_eq!(names.sources["/landing/users"], "users_2");
    }
}
