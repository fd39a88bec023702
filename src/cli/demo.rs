//! `pipelint demo`: writes an embedded repository with a handful of telling commits into a folder and runs `pipelint diff` on it.

use super::{Failure, Outcome, diff, output};
use clap::ArgMatches;
use git2::{Repository, Signature, Time};
use include_dir::{Dir, include_dir};
use std::path::{Path, PathBuf};

/// One folder a commit, in order; each holds the files that the commit changes, and its `MESSAGE`.
static COMMITS: Dir = include_dir!("$CARGO_MANIFEST_DIR/demo");

const MESSAGE: &str = "MESSAGE";

/// 2026-01-05 09:00 UTC, an hour further with each commit: the demo is the same, byte for byte, wherever it runs.
const FIRST_COMMIT: i64 = 1_767_603_600;

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let folder = match args.get_one::<String>("folder") {
        Some(folder) => PathBuf::from(folder),
        None => std::env::temp_dir().join(format!("pipelint-demo-{}", std::process::id())),
    };
    let first = write_repository(&folder)?;
    output::print(&format!(
        "Wrote an example repository to {folder}.\n\n  $ cd {folder} && git log --oneline && pipelint diff {first}..HEAD\n\n",
        folder = folder.display()
    ))?;
    diff::run_range(args, &folder, &format!("{first}..HEAD"))?;
    // Findings are what the demo is for: they are no failure of it.
    Ok(Outcome::Clean)
}

/// Writes the commits and gives the first one's short id.
fn write_repository(folder: &Path) -> Result<String, Failure> {
    let occupied = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if occupied {
        return Err(Failure::with_help(
            format!("`{}` is not empty", folder.display()),
            "name a folder that does not exist yet",
        ));
    }
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::new(format!("cannot create `{}`: {error}", folder.display())))?;
    commit_all(folder).map_err(|error| Failure::new(format!("cannot write the example repository: {error}")))
}

fn commit_all(folder: &Path) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let repository = Repository::init(folder)?;
    let mut first = String::new();
    let mut steps: Vec<_> = COMMITS.dirs().collect();
    steps.sort_by_key(|step| step.path());
    for (at, step) in (FIRST_COMMIT..).step_by(3600).zip(steps) {
        write_files(step, step.path(), folder)?;
        let message =
            step.get_file(step.path().join(MESSAGE)).and_then(|file| file.contents_utf8()).unwrap_or_default();
        let mut index = repository.index()?;
        index.add_all(["*"], git2::IndexAddOption::DEFAULT, None)?;
        index.write()?;
        let tree = repository.find_tree(index.write_tree()?)?;
        let author = Signature::new("Ada", "ada@example.org", &Time::new(at, 0))?;
        let parent = repository.head().ok().and_then(|head| head.peel_to_commit().ok());
        let parents: Vec<_> = parent.iter().collect();
        let id = repository.commit(Some("HEAD"), &author, &author, message.trim(), &tree, &parents)?;
        if first.is_empty() {
            first = id.to_string().chars().take(7).collect();
        }
    }
    Ok(first)
}

fn write_files(dir: &Dir, root: &Path, folder: &Path) -> std::io::Result<()> {
    for file in dir.files() {
        let relative = file.path().strip_prefix(root).unwrap_or(file.path());
        if relative == Path::new(MESSAGE) {
            continue;
        }
        let target = folder.join(relative);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(target, file.contents())?;
    }
    dir.dirs().try_for_each(|inner| write_files(inner, root, folder))
}
