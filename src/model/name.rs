//! Names of tables, views and sinks.

use std::fmt;

/// A name of one to three parts. A part that is not known statically holds a placeholder in braces (`{catalog}`), so that the
/// same unknown is the same name on both sides. Comparison ignores letter case, as Spark's catalog does.
#[derive(Debug, Clone, Default)]
pub struct QualifiedName {
    pub catalog: Option<String>,
    pub schema: Option<String>,
    pub name: String,
}

impl QualifiedName {
    pub fn bare(name: impl Into<String>) -> Self {
        QualifiedName { catalog: None, schema: None, name: name.into() }
    }

    /// From unquoted parts, outermost first. More than three parts keep the surplus, dotted, in the last one.
    pub fn from_parts(parts: &[String]) -> Self {
        match parts {
            [] => QualifiedName::default(),
            [name] => QualifiedName::bare(name.clone()),
            [schema, name] => QualifiedName { catalog: None, schema: Some(schema.clone()), name: name.clone() },
            [catalog, schema, rest @ ..] => {
                QualifiedName { catalog: Some(catalog.clone()), schema: Some(schema.clone()), name: rest.join(".") }
            }
        }
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
        QualifiedName { catalog: catalog_part, schema: schema_part, name: self.name.clone() }
    }

    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.catalog.as_deref().into_iter().chain(self.schema.as_deref()).chain(std::iter::once(self.name.as_str()))
    }

    /// Letter case folded, dotted: the key to compare and sort by.
    pub fn key(&self) -> String {
        self.parts().collect::<Vec<_>>().join(".").to_lowercase()
    }

    /// True where some part holds a placeholder.
    pub fn is_template(&self) -> bool {
        self.parts().any(|part| part.contains('{'))
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

/// The dotted name in lower case, character by character: what `key` gives, without a text of its own.
fn folded(name: &QualifiedName) -> impl Iterator<Item = char> {
    name.parts().enumerate().flat_map(|(index, part)| {
        let dot = (index > 0).then_some('.');
        dot.into_iter().chain(part.chars().flat_map(char::to_lowercase))
    })
}

impl PartialEq for QualifiedName {
    fn eq(&self, other: &Self) -> bool {
        folded(self).eq(folded(other))
    }
}

impl Eq for QualifiedName {}

impl std::hash::Hash for QualifiedName {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        folded(self).for_each(|c| c.hash(state));
    }
}

impl PartialOrd for QualifiedName {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for QualifiedName {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        folded(self).cmp(folded(other))
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
