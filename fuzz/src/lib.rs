//! What the targets share: a revision of a few files, compared with an empty one in both directions and with itself.

use pipelint::reading::{ConfirmWith, Options};
use pipelint::report::{Format, Style, render};
use pipelint::review::review;
use pipelint::revision::{Selection, open};
use std::path::Path;

const STYLE: Style = Style { colors: false, width: 100, explain: true };

/// Compares a revision that holds these files with one that holds the same files but for the fuzzed one.
pub fn compare(files: &[(&str, &[u8])], fuzzed: &str, confirm: bool) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    for (side, is_after) in [(&before, false), (&after, true)] {
        for (name, bytes) in files {
            if *name != fuzzed || is_after {
                write(side, name, bytes);
            }
        }
        let _ = std::fs::create_dir_all(side);
    }
    for (older, newer) in [(&before, &after), (&after, &before), (&after, &after)] {
        let selection = Selection::Folders { before: older.clone(), after: newer.clone() };
        let Ok(comparison) = open(&selection, Path::new(".")) else { continue };
        let confirm = if confirm { ConfirmWith::GeneratedRows } else { ConfirmWith::Nothing };
        let options = Options { confirm, ..Options::default() };
        let report = review(comparison.before.as_ref(), comparison.after.as_ref(), &options);
        for (_, format) in Format::ALL {
            let text = render(&report, format, STYLE);
            assert!(!text.contains('\u{1b}'));
        }
        if older == newer {
            assert!(report.findings.is_empty(), "a revision against itself");
        }
    }
}

fn write(side: &Path, name: &str, bytes: &[u8]) {
    let path = side.join(name);
    if let Some(parent) = path.parent() {
        let _ = std::fs::create_dir_all(parent);
    }
    let _ = std::fs::write(path, bytes);
}

pub const ORDERS: &[u8] = b"CREATE OR REFRESH STREAMING TABLE orders AS SELECT id, ts FROM STREAM(raw.orders);\n";
