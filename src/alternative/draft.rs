//! Changes to one sheet on their way to edits: what is replaced, and how the definition reads afterwards.

use super::edit::{self, Edit};
use super::python::Source as PythonSource;
use super::sheet::Sheet;
use super::sql::Statement;
use crate::rules::CodeLanguage;
use std::ops::Range;
use std::rc::Rc;

pub struct Draft {
    sheet: Rc<Sheet>,
    /// The definition that is changed.
    region: Range<usize>,
    changes: Vec<(Range<usize>, String)>,
}

/// How a sheet's code is taken apart.
pub enum Parsed<'a> {
    Sql(Statement<'a>),
    Python(PythonSource<'a>),
}

impl<'a> Parsed<'a> {
    /// The statement around a byte, or the file.
    pub fn of(sheet: &'a Sheet, byte: usize) -> Option<Self> {
        Some(match sheet.language {
            CodeLanguage::Sql => Parsed::Sql(sheet.statement(byte)?),
            CodeLanguage::Python => Parsed::Python(PythonSource::parse(&sheet.text)?),
        })
    }
}

impl Parsed<'_> {
    /// The definition around a byte, where more code can follow it, and what must stand before that.
    pub fn definition(&self, text: &str, byte: usize) -> Option<(Range<usize>, usize, &'static str)> {
        match self {
            Parsed::Sql(statement) => {
                let (end, close) = statement.end()?;
                Some((statement.bytes()?, end, close))
            }
            Parsed::Python(python) => {
                let whole = python.whole(byte)?;
                let end = text.get(..whole.end)?.trim_end().len();
                Some((whole, end, ""))
            }
        }
    }
}

impl Draft {
    /// A draft of the definition that stands at `region`.
    pub fn new(sheet: Rc<Sheet>, region: Range<usize>) -> Self {
        Draft { sheet, region, changes: Vec::new() }
    }

    pub fn language(&self) -> CodeLanguage {
        self.sheet.language
    }

    #[must_use]
    pub fn replace(mut self, range: Range<usize>, text: impl Into<String>) -> Self {
        self.changes.push((range, text.into()));
        self
    }

    #[must_use]
    pub fn insert(self, at: usize, text: impl Into<String>) -> Self {
        self.replace(at..at, text)
    }

    /// The edits, and the definition as it then reads. None where the changes overlap.
    pub fn finish(self) -> Option<(Vec<Edit>, String)> {
        let start = self.changes.iter().map(|(range, _)| range.start).fold(self.region.start, usize::min);
        let end = self.changes.iter().map(|(range, _)| range.end).fold(self.region.end, usize::max);
        let local = |(range, text): &'_ (Range<usize>, String)| (range.start - start..range.end - start, text.clone());
        let local: Vec<(Range<usize>, String)> = self.changes.iter().map(local).collect();
        let borrowed = local.iter().map(|(range, text)| (range.clone(), text.as_str())).collect();
        let code = edit::replaced(self.sheet.text.get(start..end)?, borrowed)?;
        let edits = self.changes.iter().map(|(range, text)| self.sheet.edit(range.clone(), text));
        Some((edits.collect::<Option<Vec<Edit>>>()?, code.trim().to_owned()))
    }
}
