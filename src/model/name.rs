//! Names of tables, views and sinks.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// A name of one to three parts. A part that is not known statically holds a symbol in braces (`{catalog}`), so that the
/// same symbol is the same name on both sides. Comparison ignores letter case, as Spark's catalog does.
///
/// A name is folded once, when it is made; copies share it.
#[derive(Clone)]
pub struct QualifiedName(Arc<Folded>);

/// The parts of a name, as they are written.
#[derive(Debug, Clone, Default)]
pub struct NameParts {
    pub catalog: Option<String>,
    pub schema: Option<String>,
    pub name: String,
}

#[derive(Debug)]
struct Folded {
    parts: NameParts,
    /// Letter case folded, dotted.
    key: String,
}

impl From<NameParts> for QualifiedName {
    fn from(parts: NameParts) -> Self {
        let key = parts.parts().collect::<Vec<_>>().join(".").to_lowercase();
        QualifiedName(Arc::new(Folded { parts, key }))
    }
}

impl NameParts {
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.catalog.as_deref().into_iter().chain(self.schema.as_deref()).chain(std::iter::once(self.name.as_str()))
    }
}

/// The parts of a name can be read, not changed.
impl Deref for QualifiedName {
    type Target = NameParts;

    fn deref(&self) -> &NameParts {
        &self.0.parts
    }
}

impl Default for QualifiedName {
    fn default() -> Self {
        NameParts::default().into()
    }
}

impl QualifiedName {
    pub fn bare(name: impl Into<String>) -> Self {
        NameParts { catalog: None, schema: None, name: name.into() }.into()
    }

    /// From unquoted parts, outermost first. More than three parts keep the surplus, dotted, in the last one.
    pub fn from_parts(parts: &[String]) -> Self {
        let parts = match parts {
            [] => NameParts::default(),
            [name] => NameParts { catalog: None, schema: None, name: name.clone() },
            [schema, name] => NameParts { catalog: None, schema: Some(schema.clone()), name: name.clone() },
            [catalog, schema, rest @ ..] => {
                NameParts { catalog: Some(catalog.clone()), schema: Some(schema.clone()), name: rest.join(".") }
            }
        };
        parts.into()
    }

    /// Parses a dotted name as Python code and YAML write it; back quotes protect dots, and so do the braces of a placeholder.
    pub fn parse(text: &str) -> Self {
        let mut parts = vec![String::new()];
        let mut quoted = false;
        let mut depth = 0usize;
        for c in text.trim().chars() {
            match c {
                '`' => quoted = !quoted,
                '.' if !quoted && depth == 0 => parts.push(String::new()),
                _ => {
                    match c {
                        '{' => depth += 1,
                        '}' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    if let Some(last) = parts.last_mut() {
                        last.push(c);
                    }
                }
            }
        }
        Self::from_parts(&parts)
    }

    /// This name with missing parts taken from a pipeline's defaults.
    pub fn qualified(&self, catalog: Option<&str>, schema: Option<&str>) -> Self {
        let schema_part = self.schema.clone().or_else(|| schema.map(str::to_owned));
        let catalog_part = self.catalog.clone().or_else(|| schema_part.as_ref().and(catalog).map(str::to_owned));
        if schema_part == self.schema && catalog_part == self.catalog {
            return self.clone();
        }
        NameParts { catalog: catalog_part, schema: schema_part, name: self.name.clone() }.into()
    }

    /// Letter case folded, dotted: the key to compare and sort by.
    pub fn key(&self) -> String {
        self.0.key.clone()
    }

    /// The key, to look at.
    pub fn folded(&self) -> &str {
        &self.0.key
    }

    /// True where some part holds a symbol.
    pub fn is_template(&self) -> bool {
        self.parts().any(super::symbol::holds_symbol)
    }
}

impl fmt::Debug for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NameParts { catalog, schema, name } = &self.0.parts;
        let mut fields = f.debug_struct("QualifiedName");
        fields.field("catalog", catalog).field("schema", schema).field("name", name).finish()
    }
}

impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.parts().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            f.write_str(part)?;
        }
        Ok(())
    }
}

impl PartialEq for QualifiedName {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.key == other.0.key
    }
}

impl Eq for QualifiedName {}

impl Hash for QualifiedName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.key.hash(state);
    }
}

impl PartialOrd for QualifiedName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for QualifiedName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.key.cmp(&other.0.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_in_quotes_and_placeholders_do_not_split() {
        let name = QualifiedName::parse("main.`a.b`.{cfg.table}");
        assert_eq!(name.catalog.as_deref(), Some("main"));
        assert_eq!(name.schema.as_deref(), Some("a.b"));
        assert_eq!(name.name, "{cfg.table}");
        assert!(name.is_template());
    }

    #[test]
    fn defaults_fill_only_what_is_missing() {
        let name = QualifiedName::parse("s.t").qualified(Some("c"), Some("d"));
        assert_eq!(name.to_string(), "c.s.t");
        assert_eq!(QualifiedName::bare("T"), QualifiedName::bare("t"));
    }
}
