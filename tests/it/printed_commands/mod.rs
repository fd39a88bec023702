//! Every command that a report, a rule or a page of the documentation prints is one that runs as it is: other programs' by the table
//! of their flags in `flags.yaml`, pipelint's own by its own command line, and git's in real shallow clones.

pub mod shallow;
pub mod shell;

use serde_yaml::Value as Yaml;
use std::path::{Path, PathBuf};

/// What is known of one command of another program.
struct Known {
    words: Vec<String>,
    flags: Vec<String>,
    arguments: (u64, u64),
}

fn table() -> Vec<Known> {
    let root: Yaml = serde_yaml::from_str(include_str!("flags.yaml")).expect("YAML");
    let entries = root.as_sequence().expect("a list");
    let known = entries.iter().map(|entry| {
        assert!(entry["source"].as_str().is_some_and(|source| !source.is_empty()), "{entry:?} has no source");
        let text = |value: &Yaml| value.as_str().expect("a text").to_owned();
        Known {
            words: text(&entry["command"]).split(' ').map(str::to_owned).collect(),
            flags: entry["flags"].as_sequence().expect("flags").iter().map(text).collect(),
            arguments: (
                entry["arguments"][0].as_u64().expect("at least"),
                entry["arguments"][1].as_u64().expect("at most"),
            ),
        }
    });
    known.collect()
}

/// What is wrong with a command line, word by word.
fn complaint(table: &[Known], words: &[String]) -> Option<String> {
    if words.first().is_some_and(|word| word == "pipelint") {
        // A page that speaks of a subcommand names it and no more.
        let is_named = |name: &String| pipelint::cli::command().get_subcommands().any(|known| known.get_name() == name);
        if words.len() == 2 && words.get(1).is_some_and(is_named) {
            return None;
        }
        let words = words.iter().filter(|word| *word != "…");
        return pipelint::cli::command().try_get_matches_from(words).err().map(|error| error.to_string());
    }
    let longest = table.iter().filter(|known| words.starts_with(&known.words)).max_by_key(|known| known.words.len());
    let Some(known) = longest else { return Some("no such command is in flags.yaml".to_owned()) };
    let mut arguments = 0;
    let mut rest = words.iter().skip(known.words.len());
    while let Some(word) = rest.next() {
        if word == "--" {
            break;
        }
        if !word.starts_with('-') {
            arguments += 1;
            continue;
        }
        let (flag, inline) = word.split_once('=').map_or((word.as_str(), None), |(flag, value)| (flag, Some(value)));
        let with_value = known.flags.contains(&format!("{flag}="));
        if !with_value && !known.flags.iter().any(|known| known == flag) {
            return Some(format!("`{flag}` is no flag of `{}`", known.words.join(" ")));
        }
        if with_value && inline.is_none() && rest.next().is_none() {
            return Some(format!("`{flag}` has no value"));
        }
    }
    let (least, most) = known.arguments;
    (!(least..=most).contains(&arguments)).then(|| format!("{arguments} arguments, where it takes {least} to {most}"))
}

const PROGRAMS: [&str; 7] = ["databricks", "spark-pipelines", "git", "pipelint", "cargo", "pip", "uvx"];

/// The command lines of a text: whole lines, lines after a prompt, and back-quoted ones.
fn commands(text: &str) -> Vec<String> {
    let starts = |line: &str| {
        let mut words = line.split(' ');
        words.next().is_some_and(|first| PROGRAMS.contains(&first) || first == "cd") && words.next().is_some()
    };
    let mut found = Vec::new();
    for line in text.lines() {
        let plain = line.trim().trim_start_matches("$ ").trim_start_matches("- ");
        let command = plain.split(" #").next().unwrap_or(plain).trim();
        // Prose also begins with a program's name: a command has no full stop at its end.
        if starts(command) && !command.ends_with(['.', ',', ':']) && (line.starts_with(' ') || line.starts_with('$')) {
            found.push(command.to_owned());
        }
        // A quotation that goes on in the next line is not whole.
        let quotations = line.matches('`').count() / 2;
        found.extend(
            line.split('`').skip(1).step_by(2).take(quotations).filter(|quoted| starts(quoted)).map(str::to_owned),
        );
    }
    found
}

fn files(folder: &Path, ends: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, ends, found);
        } else if ends.iter().any(|end| path.to_string_lossy().ends_with(end)) {
            found.push(path);
        }
    }
}

fn every_printed_command_is_one_of_its_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = table();
    let mut paths = vec![root.join("README.md"), root.join("CONTRIBUTING.md"), root.join(".pre-commit-hooks.yaml")];
    files(&root.join("tests/cases"), &["/report.txt", "/plan.md"], &mut paths);
    files(&root.join("docs/src"), &[".md"], &mut paths);
    files(&root.join("rules"), &[".yaml"], &mut paths);
    let mut wrong = Vec::new();
    let mut seen = 0;
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        for command in commands(&text) {
            for words in shell::commands(&command)
                .into_iter()
                .filter(|words| words.first().is_some_and(|w| PROGRAMS.contains(&w.as_str())))
            {
                seen += 1;
                if let Some(complaint) = complaint(&table, &words) {
                    let path = path.strip_prefix(root).unwrap_or(&path).display();
                    wrong.push(format!("{path}: {command}\n    {complaint}"));
                }
            }
        }
    }
    assert!(seen > 100, "{seen} commands were found");
    assert!(wrong.is_empty(), "{} of {seen} commands are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn the_checker_sees_what_is_wrong() {
    let table = table();
    for (command, right) in [
        ("databricks bundle run -t prod etl --full-refresh a,b", true),
        ("databricks bundle run etl --full-refresh-selection a", false),
        ("databricks bundle run -t prod", false),
        ("databricks bundle refresh etl", false),
        ("spark-pipelines run --spec a.yml --full-refresh", false),
        ("git fetch --unshallow origin 'a b'", true),
        ("pipelint diff main...HEAD --explain", true),
        ("pipelint diff --nosuch", false),
        ("pipelint shout", false),
    ] {
        let found: Vec<Vec<String>> = shell::commands(command);
        assert_eq!(complaint(&table, &found[0]).is_none(), right, "{command}");
    }
}

crate::tests![every_printed_command_is_one_of_its_program, the_checker_sees_what_is_wrong];
