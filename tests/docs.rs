//! The documentation: every relative link leads to a file, every chapter stands in the summary, every command that a shell block
//! shows is one that the program knows.

#![allow(clippy::expect_used, clippy::panic)] // a test says what is wrong by failing

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md"), root().join("CONTRIBUTING.md"), root().join("CHANGELOG.md")];
    let chapters =
        std::fs::read_dir(root().join("docs/src")).expect("the chapters").flatten().map(|entry| entry.path());
    pages.extend(chapters.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    pages.sort();
    pages
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Targets of Markdown links and pictures, without anchors.
fn links(text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets
        .map(|target| target.split('#').next().unwrap_or_default().to_owned())
        .filter(|target| !target.is_empty())
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        let folder = page.parent().expect("a page has a folder");
        for link in links(&read(&page)) {
            // The pages of the rules are written from rules/ when the site is built.
            let generated = link.strip_prefix("rules/").is_some_and(|rest| {
                rest == "index.md" || root().join("rules").join(rest.replace(".md", ".yaml")).is_file()
            });
            if !link.starts_with("https://") && !generated && !folder.join(&link).exists() {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn every_chapter_stands_in_the_summary() {
    let summary = read(&root().join("docs/src/SUMMARY.md"));
    for page in pages().into_iter().filter(|page| page.starts_with(root().join("docs/src"))) {
        let name = page.file_name().and_then(|name| name.to_str()).expect("a name");
        assert!(name == "SUMMARY.md" || summary.contains(&format!("({name})")), "{name}");
    }
}

/// Subcommands and long options of the commands in shell blocks.
#[test]
fn every_command_shown_is_known() {
    let mut shown = 0;
    for page in pages() {
        let text = read(&page);
        let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
        for line in blocks.flat_map(str::lines) {
            let Some(command) = line.trim().strip_prefix("pipelint ") else { continue };
            let words: Vec<&str> = command.split(" #").next().unwrap_or_default().split_whitespace().collect();
            let subcommand = words.first().expect("a subcommand");
            let out = std::process::Command::new(env!("CARGO_BIN_EXE_pipelint")).args([subcommand, "--help"]).output();
            let out = out.expect("pipelint runs");
            let help = String::from_utf8_lossy(&out.stdout);
            assert!(out.status.success(), "{}: {line}", page.display());
            for option in words.iter().filter_map(|word| word.strip_prefix("--")) {
                let name = option.split('=').next().unwrap_or_default();
                assert!(help.contains(&format!("--{name}")), "{}: {line}: no --{name}", page.display());
            }
            shown += 1;
        }
    }
    assert!(shown >= 6, "only {shown} commands found");
}
