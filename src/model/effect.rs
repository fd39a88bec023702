//! The one vocabulary for what rules claim and engines observe.

use std::fmt;
use std::str::FromStr;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                Self::ALL.iter().copied().find(|v| v.as_str() == text).ok_or_else(|| {
                    let known: Vec<_> = Self::ALL.iter().map(|v| v.as_str()).collect();
                    format!("`{text}` is none of {}", known.join(", "))
                })
            }
        }
    };
}

words! {
    /// What happens to the data, from harmless to worst; the order is that of severity.
    Effect {
        /// The table is what a full refresh would give.
        None = "none",
        /// The edit is valid and does nothing on an existing checkpoint.
        Ignored = "ignored",
        /// Rows written before keep the old logic, rows written after have the new one.
        Mixed = "mixed",
        /// A materialized view is computed anew.
        Recomputed = "recomputed",
        /// A flow starts on an empty checkpoint and reads its source again into a table that keeps its rows.
        Replayed = "replayed",
        /// The flow resumes without an error and new rows are wrong or missing.
        WrongRows = "wrong-rows",
        /// The update fails until somebody acts.
        Refused = "refused",
        /// The new pipeline does not run at all, not even from nothing.
        Invalid = "invalid",
        /// A table stops being written and stays behind under its old name.
        Orphaned = "orphaned",
        /// The platform deletes the table and its data.
        Dropped = "dropped",
    }
}

words! {
    /// Whether a full refresh heals it.
    FullRefresh {
        No = "no",
        Recommended = "recommended",
        Required = "required",
        /// It would fail too, or the source can no longer replay what is lost.
        Useless = "useless",
    }
}

words! {
    Platform {
        Lakeflow = "lakeflow",
        Spark = "spark",
    }
}

words! {
    Severity {
        Off = "off",
        Note = "note",
        Warning = "warning",
        Error = "error",
    }
}
