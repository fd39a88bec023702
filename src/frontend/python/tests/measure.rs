//! Counts what is found in folders of real code. Ignored: `PIPELINT_MEASURE=folder[:folder…] cargo test measure -- --ignored --nocapture`.

use crate::frontend::{self, ParseCache};
use crate::model::{Node, Plan};
use crate::project::{Options, discover};
use crate::revision::{Selection, open};
use std::collections::BTreeMap;
use std::path::Path;

#[test]
#[ignore = "reads folders named in the environment"]
#[allow(clippy::print_stdout)]
fn measure() {
    let folders = std::env::var("PIPELINT_MEASURE").unwrap_or_default();
    for folder in folders.split(':').filter(|folder| !folder.is_empty()) {
        measure_folder(folder);
    }
}

#[allow(clippy::print_stdout)]
fn measure_folder(folder: &str) {
    let path = Path::new(folder);
    let selection = Selection::Folders { before: path.to_owned(), after: path.to_owned() };
    let comparison = open(&selection, path).unwrap();
    let tree = comparison.after.as_ref();
    let started = std::time::Instant::now();
    let parse_schema = |text: &str| frontend::sql::parse_schema_ddl(text);
    let project = discover(tree, &Options::new(&parse_schema));
    let workspace = frontend::load(tree, project, &ParseCache::new());
    let elapsed = started.elapsed();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let (mut datasets, mut flows, mut resolved) = (0, 0, 0);
    let show = std::env::var("PIPELINT_SHOW").is_ok();
    for pipeline in &workspace.pipelines {
        datasets += pipeline.datasets.len();
        if show {
            println!("  pipeline {} {:?} {:?}", pipeline.key, pipeline.kind, pipeline.platform);
            for dataset in &pipeline.datasets {
                let place = dataset.place.span().map(|s| format!("{}:{}", s.path, s.line)).unwrap_or_default();
                println!("    {:?} {} template={} {place}", dataset.kind, dataset.name, dataset.template);
            }
        }
        for flow in &pipeline.flows {
            flows += 1;
            let gaps = gaps(&flow.plan);
            if show {
                println!("    flow {} -> {} gaps={gaps:?}", flow.name, flow.target);
            }
            if gaps.is_empty() {
                resolved += 1;
            }
            for gap in gaps {
                *reasons.entry(gap).or_default() += 1;
            }
        }
    }
    println!(
        "{folder}: {} pipelines, {datasets} datasets, {flows} flows, {resolved} resolved, {} unresolved, {} diagnostics, {elapsed:?}",
        workspace.pipelines.len(),
        workspace.unresolved.len(),
        workspace.diagnostics.len()
    );
    let mut top: Vec<_> = reasons.into_iter().collect();
    top.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (reason, count) in top.iter().take(25) {
        println!("    {count:4} {reason}");
    }
    let mut codes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for unresolved in &workspace.unresolved {
        *codes.entry((unresolved.code.as_str(), unresolved.what.as_str())).or_default() += 1;
    }
    if show {
        for ((code, what), count) in codes {
            println!("    unresolved {count:4} {code} {what}");
        }
        for diagnostic in &workspace.diagnostics {
            println!(
                "    {:?} {} {} {:?} {:?}",
                diagnostic.level,
                diagnostic.code,
                diagnostic.message,
                diagnostic.path,
                diagnostic.span.as_ref().map(|s| s.line)
            );
        }
    }
}

/// Reasons of a plan's gaps.
fn gaps(plan: &Plan) -> Vec<String> {
    let mut found = Vec::new();
    plan.walk(&mut |node| {
        if let Node::Opaque { function, .. } = &node.node
            && !function.reason.is_empty()
        {
            found.push(format!("{}: {}", function.name, function.reason));
        }
        for expr in node.expressions() {
            expr.walk(&mut |expr| {
                if let crate::model::Expr::Opaque(opaque) = expr
                    && !opaque.reason.is_empty()
                {
                    found.push(format!("{}: {}", opaque.name, opaque.reason));
                }
            });
        }
    });
    found
}
