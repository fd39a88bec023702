//! What reviews forget, held by tests over the sources.

use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Each line of the sources with its place, but for those of a folder.
fn lines_outside_of(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    sources(&root.join("src"), &mut paths);
    let mut lines = Vec::new();
    for path in paths {
        let name = path.strip_prefix(root).expect("below the root").display().to_string();
        if !name.starts_with(folder) {
            let text = std::fs::read_to_string(&path).expect("UTF-8");
            lines.extend(text.lines().enumerate().map(|(at, line)| (format!("{name}:{}", at + 1), line.to_owned())));
        }
    }
    lines
}

/// Files of a revision are read in `revision/text.rs` alone, which gives the text or the reason why there is none: a read that fails is
/// nowhere taken for a file that is absent.
fn files_of_a_revision_are_read_in_one_place() {
    let lines = lines_outside_of("src/revision/");
    assert!(lines.len() > 10_000, "{} lines", lines.len());
    let reads = |line: &str| ["tree.read(", "base.read(", "objects.read("].iter().any(|call| line.contains(call));
    let wrong: Vec<&(String, String)> = lines.iter().filter(|(_, line)| reads(line)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let swallowed = |line: &str| {
        let asked = ["text::text(", "text::text_with_newlines(", "text::scannable(", "text::bytes("];
        asked.iter().any(|call| line.contains(call)) && (line.contains(".ok()") || line.contains("unwrap_or"))
    };
    let wrong: Vec<&(String, String)> = lines.iter().filter(|(_, line)| swallowed(line)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

crate::tests![files_of_a_revision_are_read_in_one_place];
