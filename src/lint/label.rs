//! The words for what running a script twice does to a table.

use std::fmt;

macro_rules! labels {
    ($($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)?) => {
        /// What was seen of a table after the first and the second run of a script. Rows are told apart by key and partition.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Label { $($(#[$doc])* $variant),+ }

        impl Label {
            pub const ALL: &'static [Label] = &[$(Label::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self { $(Label::$variant => $word),+ }
            }
        }
    };
}

// In the order of their words.
labels! {
    /// Run 2 adds rows.
    Doubled = "doubled",
    /// A key stands twice after run 1.
    DuplicatedAtRun1 = "duplicated-at-run-1",
    /// No row is left, and what is left cannot be read.
    Emptied = "emptied",
    /// The first run fails.
    Error = "error",
    /// Only the second run fails.
    ErrorAtRun2 = "error-at-run-2",
    /// Some input rows are not there under their own column names.
    InputMissing = "input-missing-or-misplaced",
    /// Rows of partitions that the input does not touch are gone.
    Lost = "lost",
    /// Rows that were there after run 1 are gone after run 2.
    LostAtRun2 = "lost-at-run-2",
    /// The script passed, the table is as before, the input is not there.
    NothingWritten = "nothing-written",
    PartitioningChanged = "partitioning-changed",
    /// The script failed and rows are gone all the same.
    RowsGoneDespiteError = "rows-gone-despite-error",
    SchemaChanged = "schema-changed",
    /// A day of the window keeps rows that the input does not have.
    Stale = "stale",
    Unreadable = "unreadable",
    UnreadableAtRun2 = "unreadable-at-run-2",
    /// The same rows have other values after run 2.
    ValuesChangedAtRun2 = "values-changed-at-run-2",
    /// A commit was made that readers do not see.
    WrittenButInvisible = "written-but-invisible",
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Labels as one text: joined by `+`, `ok` where there is none.
pub fn effect(labels: &std::collections::BTreeSet<Label>) -> String {
    if labels.is_empty() {
        return "ok".to_owned();
    }
    labels.iter().map(|label| label.as_str()).collect::<Vec<_>>().join("+")
}
