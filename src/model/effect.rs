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
    /// What happens to the data, from harmless to worst: an update that stops harms nobody's numbers, a silent loss does.
    Effect {
        /// The table is what a full refresh would give.
        None = "none",
        /// The edit is valid and does nothing on an existing checkpoint.
        Ignored = "ignored",
        /// A materialized view is computed anew.
        Recomputed = "recomputed",
        /// Rows written before keep the old logic, rows written after have the new one.
        Mixed = "mixed",
        /// It cannot be told: differing symbols, a query that was not run, no row that could have shown a difference.
        Unknown = "unknown",
        /// The new pipeline does not run at all, not even from nothing.
        Invalid = "invalid",
        /// The update fails until somebody acts.
        Refused = "refused",
        /// A table stops being written and stays behind under its old name.
        Orphaned = "orphaned",
        /// A flow starts on an empty checkpoint and reads its source again into a table that keeps its rows.
        Replayed = "replayed",
        /// The flow resumes without an error and new rows are wrong or missing.
        WrongRows = "wrong-rows",
        /// The platform deletes the table and its data.
        Dropped = "dropped",
    }
}

impl Effect {
    /// What shows where several effects meet in one update of one flow: an update that stops writes no wrong rows, and a table
    /// that is left behind or deleted is not updated at all. (The order of the type compares outcomes: stopping is better.)
    pub fn together(effects: impl IntoIterator<Item = Effect>) -> Effect {
        let precedence = |effect: &Effect| match effect {
            Effect::None => 0,
            Effect::Ignored => 1,
            Effect::Recomputed => 2,
            Effect::Mixed => 3,
            Effect::Unknown => 4,
            Effect::Replayed => 5,
            Effect::WrongRows => 6,
            Effect::Refused => 7,
            Effect::Invalid => 8,
            Effect::Orphaned => 9,
            Effect::Dropped => 10,
        };
        effects.into_iter().max_by_key(precedence).unwrap_or(Effect::None)
    }

    /// How loud an effect is by itself, where no rule says.
    pub fn severity(self) -> Severity {
        match self {
            Effect::None => Severity::Off,
            Effect::Ignored | Effect::Recomputed => Severity::Note,
            Effect::Mixed | Effect::Unknown => Severity::Warning,
            Effect::Invalid
            | Effect::Refused
            | Effect::Orphaned
            | Effect::Replayed
            | Effect::WrongRows
            | Effect::Dropped => Severity::Error,
        }
    }

    /// The update stops: nothing is written until somebody acts.
    pub fn stops(self) -> bool {
        matches!(self, Effect::Refused | Effect::Invalid)
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
