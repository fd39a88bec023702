//! The documentation: every relative link leads to a file, every chapter stands in the summary, every command that a shell block
//! shows is one that the program knows.

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

fn every_chapter_stands_in_the_summary() {
    let summary = read(&root().join("docs/src/SUMMARY.md"));
    for page in pages().into_iter().filter(|page| page.starts_with(root().join("docs/src"))) {
        let name = page.file_name().and_then(|name| name.to_str()).expect("a name");
        assert!(name == "SUMMARY.md" || summary.contains(&format!("({name})")), "{name}");
    }
}

/// Subcommands and long options of the commands in shell blocks.
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

/// Pages of the built site, and what each is called in the site.
fn site() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut pending = vec![root().join("target/docs")];
    while let Some(folder) = pending.pop() {
        for path in std::fs::read_dir(folder).expect("docs/build.sh has run").flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|ending| ending == "html") {
                let text = read(&path);
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

/// Values of an attribute.
fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    html.split(&format!(" {name}=\"")).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Run after `docs/build.sh` with `cargo test --test it -- docs:: --ignored`; asks no network.
fn every_link_of_the_built_site_leads_somewhere() {
    let pages = site();
    let anchors: std::collections::BTreeMap<&Path, std::collections::BTreeSet<&str>> =
        pages.iter().map(|(path, html)| (path.as_path(), attributes(html, "id").into_iter().collect())).collect();
    let mut broken = Vec::new();
    let mut checked = 0;
    // The page for what is not found is served under any address: its links start at the site's root.
    for (path, html) in pages.iter().filter(|(path, _)| !path.ends_with("404.html")) {
        for link in attributes(html, "href").into_iter().chain(attributes(html, "src")) {
            if link.is_empty() || link.contains(':') {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let folder = path.parent().expect("a page has a folder");
            let target = if file.is_empty() { path.clone() } else { folder.join(file) };
            let target = target.canonicalize().unwrap_or(target);
            let known = anchors.get(target.as_path());
            let anchored = anchor.is_empty() || known.is_none_or(|known| known.contains(anchor));
            if !target.exists() || !anchored {
                broken.push(format!("{}: {link}", path.display()));
            }
            checked += 1;
        }
    }
    assert!(checked > 1_000, "only {checked} links found");
    assert_eq!(broken, Vec::<String>::new());
}

/// `PIPELINT_BLESS=1` writes the page; the command prints the same kinds and facts.
fn the_page_of_kinds_is_the_registry() {
    let book = pipelint::rules::RuleBook::embedded().expect("the rules");
    let expected = pipelint::rules::kinds_markdown(&book);
    let page = root().join("docs/src/kinds.md");
    if std::env::var_os("PIPELINT_BLESS").is_some() {
        std::fs::write(&page, &expected).expect("the page can be written");
    }
    assert_eq!(read(&page), expected, "see PIPELINT_BLESS");
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_pipelint")).args(["rules", "--kinds"]).output();
    let printed = String::from_utf8(out.expect("pipelint runs").stdout).expect("text");
    for name in expected.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()) {
        assert!(printed.lines().any(|line| line == name || line.starts_with(&format!("{name} "))), "{name}");
    }
}

crate::tests![the_page_of_kinds_is_the_registry, every_link_leads_somewhere, every_chapter_stands_in_the_summary, every_command_shown_is_known; ignored: every_link_of_the_built_site_leads_somewhere];
