//! What `--staged` compares when a hook calls it: the environment says it, and the command line of the git that runs the hook.
//!
//! Git does not tell a pre-commit hook that a commit is amended; only its own command line, up the process tree, does. Where that
//! cannot be read (Windows), an amended commit is compared as a new one.

use std::path::Path;

/// What a hook was called for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occasion {
    /// `git commit`, or a call in a terminal: HEAD with the index.
    Commit,
    /// `git commit --amend`: the parent of the commit that is replaced with the index.
    Amend,
    /// `pre-commit run --from-ref A --to-ref B`, and a push: what B has since it left A.
    Range { from: String, to: String },
    /// `pre-commit run` without a commit under way, as in CI: what is staged, else the pull request, else the last commit.
    Run,
}

/// The processes above this one, nearest first, each as its arguments.
pub type Ancestors<'a> = &'a dyn Fn() -> Vec<Vec<String>>;

/// `environment` looks a variable up, `alias` one of git's aliases.
pub fn occasion(
    environment: &dyn Fn(&str) -> Option<String>,
    ancestors: Ancestors,
    alias: &dyn Fn(&str) -> Option<String>,
) -> Occasion {
    let value = |name: &str| environment(name).filter(|value| !value.is_empty());
    if let (Some(from), Some(to)) = (value("PRE_COMMIT_FROM_REF"), value("PRE_COMMIT_TO_REF")) {
        return Occasion::Range { from, to };
    }
    let by_pre_commit = value("PRE_COMMIT").is_some();
    // Git names its index to the hooks that it runs.
    if !by_pre_commit && value("GIT_INDEX_FILE").is_none() {
        return Occasion::Commit;
    }
    match ancestors().iter().find_map(|arguments| commit_of(arguments, alias)) {
        Some(true) => Occasion::Amend,
        Some(false) => Occasion::Commit,
        None if by_pre_commit && value("GIT_INDEX_FILE").is_none() => Occasion::Run,
        None => Occasion::Commit,
    }
}

/// Options of git itself, and of `git commit`, that take the next argument as their value.
const GIT_VALUES: [&str; 9] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--config-env",
    "--exec-path",
    "--attr-source",
];
const COMMIT_VALUES: [&str; 12] = [
    "--message",
    "--file",
    "--author",
    "--date",
    "--cleanup",
    "--template",
    "--trailer",
    "--fixup",
    "--squash",
    "--reuse-message",
    "--reedit-message",
    "--pathspec-from-file",
];

/// Whether a process is `git commit`, and if so whether it amends.
fn commit_of(arguments: &[String], alias: &dyn Fn(&str) -> Option<String>) -> Option<bool> {
    let program = Path::new(arguments.first()?).file_name()?.to_str()?;
    if program.strip_suffix(".exe").unwrap_or(program) != "git" {
        return None;
    }
    let mut rest = arguments.get(1..)?;
    while let Some(option) = rest.first().filter(|word| word.starts_with('-')) {
        rest = rest.get(if GIT_VALUES.contains(&option.as_str()) { 2 } else { 1 }..)?;
    }
    let (command, options) = rest.split_first()?;
    if command == "commit" {
        return Some(amends(options));
    }
    // An alias of a command is expanded in the same process; an alias of a shell (`!`) starts another git.
    let expanded = alias(command).filter(|text| !text.starts_with('!'))?;
    let mut words = expanded.split_whitespace().map(str::to_owned);
    (words.next()? == "commit").then(|| amends(&words.chain(options.iter().cloned()).collect::<Vec<_>>()))
}

fn amends(options: &[String]) -> bool {
    let mut amend = false;
    let mut words = options.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--" => break,
            // Git takes a long option by any beginning that no other option has.
            "--amend" | "--amen" | "--ame" | "--am" => amend = true,
            "--no-amend" => amend = false,
            long if COMMIT_VALUES.contains(&long) => _ = words.next(),
            short if takes_a_value(short) => _ = words.next(),
            _ => {}
        }
    }
    amend
}

/// Short options in one word (`-am`), the last of which takes its value from the next one.
fn takes_a_value(word: &str) -> bool {
    let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else { return false };
    let first = letters.char_indices().find(|(_, letter)| matches!(letter, 'm' | 'F' | 'C' | 'c' | 't'));
    first.is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len())
}

/// More processes are not looked at: git, a shell, pre-commit and Python's launchers are a handful.
const ANCESTORS_LIMIT: usize = 24;

/// The processes above this one.
#[cfg(unix)]
pub fn ancestors() -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut pid = std::os::unix::process::parent_id();
    while pid > 1 && found.len() < ANCESTORS_LIMIT {
        let Some((parent, arguments)) = in_proc(pid).or_else(|| by_ps(pid)) else { break };
        found.push(arguments);
        pid = parent;
    }
    found
}

#[cfg(not(unix))]
pub fn ancestors() -> Vec<Vec<String>> {
    Vec::new()
}

/// Parent and arguments as Linux shows them.
#[cfg(unix)]
fn in_proc(pid: u32) -> Option<(u32, Vec<String>)> {
    let read = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).ok();
    let stat = String::from_utf8_lossy(&read("stat")?).into_owned();
    // The program's name stands in brackets and may hold anything.
    let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
    let arguments = read("cmdline")?;
    let words = arguments.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    let mut words: Vec<String> = words.collect();
    words.pop();
    Some((parent, words))
}

/// The same from `ps`, which does not say where an argument ends: spaces do here.
#[cfg(unix)]
fn by_ps(pid: u32) -> Option<(u32, Vec<String>)> {
    let out = std::process::Command::new("ps").args(["-o", "ppid=,args=", "-p", &pid.to_string()]).output().ok()?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let mut words = text.split_whitespace();
    let parent = words.next()?.parse().ok()?;
    Some((parent, words.map(str::to_owned).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(variables: &[(&str, &str)], lines: &[&str]) -> Occasion {
        let environment =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let alias = |name: &str| (name == "fix").then(|| "commit --amend --no-edit".to_owned());
        let ancestors = || lines.iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect();
        occasion(&environment, &ancestors, &alias)
    }

    #[test]
    fn revisions_that_pre_commit_names_come_first() {
        let named = [("PRE_COMMIT", "1"), ("PRE_COMMIT_FROM_REF", "a"), ("PRE_COMMIT_TO_REF", "b")];
        assert_eq!(call(&named, &[]), Occasion::Range { from: "a".into(), to: "b".into() });
    }

    #[test]
    fn git_is_found_above_pre_commit() {
        let hook = [("PRE_COMMIT", "1"), ("GIT_INDEX_FILE", ".git/index")];
        let python = "/usr/bin/python3 -mpre_commit hook-impl";
        for (line, wanted) in [
            ("git commit --amend --no-edit", Occasion::Amend),
            ("/usr/bin/git -C x -c user.name=a commit -a --am", Occasion::Amend),
            ("git fix", Occasion::Amend),
            ("git commit -am --amend", Occasion::Commit),
            ("git commit --message --amend", Occasion::Commit),
            ("git commit --amend --no-amend", Occasion::Commit),
            ("git commit -m x -- --amend", Occasion::Commit),
            ("git commit -m x", Occasion::Commit),
        ] {
            assert_eq!(call(&hook, &[python, line, "bash"]), wanted, "{line}");
        }
    }

    #[test]
    fn a_run_by_hand_is_no_commit() {
        assert_eq!(call(&[("PRE_COMMIT", "1")], &["pre-commit run --all-files", "bash"]), Occasion::Run);
        assert_eq!(call(&[], &["git commit --amend"]), Occasion::Commit, "a terminal inside git's editor is no hook");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_processes_above_are_read() {
        assert!(ancestors().first().is_some_and(|arguments| !arguments.is_empty()));
        let here = in_proc(std::process::id()).zip(by_ps(std::process::id()));
        assert!(here.is_some_and(|(proc, ps)| proc.0 == ps.0), "both sources name one parent");
    }
}
