//! `pipelint init`: writes the hook, the workflow and a commented `pipelint.yaml`. Files that are there stay, but for `--force`.

use super::{Failure, Outcome, diff, output};
use crate::analyze::Analysis;
use crate::frontend::ParseCache;
use crate::graph::{Graph, Vertex};
use crate::reading::{self, Reading};
use crate::revision;
use clap::ArgMatches;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

const WORKFLOW: &str = include_str!("workflow.yml");
const HOOKS: &str = include_str!("pre-commit-config.yaml");
const CONFIG: &str = include_str!("pipelint.yaml");
/// Where the list of sources goes.
const SOURCES_MARK: &str = "# SOURCES\n";
const VERSION_MARK: &str = "VERSION";

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let folder = diff::folder(args);
    let tree = revision::open_one(None, &folder).map_err(diff::failure)?;
    let options = diff::analysis_options(args, &folder, tree.as_ref())?;
    let reading = reading::read(tree.as_ref(), &options, &ParseCache::new());
    let files = [
        ("pipelint.yaml", config(&reading)),
        (".pre-commit-config.yaml", HOOKS.replace(VERSION_MARK, env!("CARGO_PKG_VERSION"))),
        (".github/workflows/pipelint.yml", WORKFLOW.replace(VERSION_MARK, env!("CARGO_PKG_VERSION"))),
    ];
    let mut told = summary(&reading.analysis);
    for (name, text) in &files {
        let _ = writeln!(told, "{}", write(&folder, name, text, args.get_flag("force"))?);
    }
    told.push_str("\nNext: look through pipelint.yaml, then run `pipelint diff`.\n");
    output::print(&told)?;
    Ok(Outcome::Clean)
}

fn summary(analysis: &Analysis) -> String {
    let pipelines = &analysis.workspace.pipelines;
    let mut told = format!("{} pipelines with {} flows\n", pipelines.len(), analysis.flows.len());
    for pipeline in pipelines {
        let root = if pipeline.root.is_empty() { "." } else { &pipeline.root };
        let _ = writeln!(told, "  {} ({}) in {root}", crate::report::safe::inline(&pipeline.name), pipeline.platform);
    }
    told
}

fn write(folder: &Path, name: &str, text: &str, force: bool) -> Result<String, Failure> {
    let path = folder.join(name);
    // A link is not followed: its target may lie anywhere.
    if path.symlink_metadata().is_ok() && !force {
        return Ok(format!("kept   {name} (it is there; --force replaces it)"));
    }
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)
            .map_err(|error| Failure::new(format!("cannot create `{}`: {error}", parent.display())))?;
    }
    output::write_file(&path, text)?;
    Ok(format!("wrote  {name}"))
}

/// The commented configuration, with every source that the repository reads and does not define.
fn config(reading: &Reading) -> String {
    let declared: BTreeSet<String> = (reading.analysis.workspace.pipelines.iter())
        .flat_map(|pipeline| pipeline.sources.iter().map(|facts| facts.name.to_lowercase()))
        .collect();
    let graph = Graph::new(&reading.analysis);
    let sources: BTreeSet<String> = graph
        .vertices()
        .filter_map(|(_, vertex)| match vertex {
            Vertex::External { text } if !declared.contains(&text.to_lowercase()) => Some(text.clone()),
            _ => None,
        })
        .collect();
    let mut list = String::new();
    for source in sources {
        // A name goes into a comment: nothing in it may end the line.
        let _ = writeln!(list, "#   - name: {}\n#     schema: \"…\"", crate::report::safe::inline(&source));
    }
    if list.is_empty() {
        list.push_str("#   - name: main.raw.events\n#     schema: \"id BIGINT, ts TIMESTAMP\"\n");
    }
    CONFIG.replace(SOURCES_MARK, &list)
}
