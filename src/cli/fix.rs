//! `pipelint fix`: patches that are proved to be better than a full refresh.

use super::{Failure, Outcome, diff, output};
use crate::fix::{Accept, Fix, Fixes, Price, fixes, unified_diff};
use crate::report::safe;
use crate::revision;
use clap::ArgMatches;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let folder = diff::folder(args);
    let comparison = diff::comparison(args, &folder)?;
    let options = diff::analysis_options(args, &folder, comparison.after.as_ref())?;
    let rule = args.get_one::<String>("rule").map(String::as_str);
    let accept = if args.get_flag("unsafe") { Accept::WithPrice } else { Accept::Safe };
    let found = fixes(comparison.before.as_ref(), comparison.after.as_ref(), &options, rule, accept)
        .map_err(|unknown| Failure::of(&unknown))?;
    output::print(&summary(&found))?;
    if args.get_flag("dry-run") {
        for (path, (old, new)) in &found.files {
            output::print(&safe::patch(&unified_diff(path, old, new)))?;
        }
    } else if !found.files.is_empty() {
        let root = root(args, &folder)?;
        write(&root, &found)?;
        let paths: Vec<&str> = found.files.keys().map(String::as_str).collect();
        output::print(&safe::block(&format!("Wrote {}.\n", paths.join(", "))))?;
    }
    Ok(if found.errors_left > 0 { Outcome::Findings } else { Outcome::Clean })
}

fn summary(found: &Fixes) -> String {
    let mut out = String::new();
    for fix in &found.offered {
        let _ = write!(out, "{}{}", heading(fix), price(fix));
    }
    for fix in &found.choices {
        let _ = write!(out, "not applied, for its price (`pipelint fix --unsafe` applies it): {}", heading(fix));
        let _ = write!(out, "  {}\n{}", safe::inline(&fix.text), price(fix));
    }
    for (title, dataset) in &found.dropped {
        let (title, dataset) = (safe::inline(title), safe::inline(&dataset.to_string()));
        let _ = writeln!(out, "not offered, for it gains nothing: {title} ({dataset})");
    }
    if found.offered.is_empty() {
        out.push_str(if found.choices.is_empty() { "No fix to offer.\n" } else { "No safe fix to offer.\n" });
    }
    let left = match found.errors_left {
        0 => "no finding of severity error is left".to_owned(),
        1 => "1 finding of severity error is left: see `pipelint diff`".to_owned(),
        count => format!("{count} findings of severity error are left: see `pipelint diff`"),
    };
    let _ = writeln!(out, "{}, {left}.", if found.offered.is_empty() { "Without a patch" } else { "With the patch" });
    out
}

/// What a fix is, and what it changes for its table.
fn heading(fix: &Fix) -> String {
    format!(
        "{} [{}]\n  {}: {} (full refresh: {}) → {} (full refresh: {})\n",
        safe::inline(&fix.title),
        fix.rule,
        safe::inline(&fix.dataset.to_string()),
        fix.before.effect,
        fix.before.full_refresh.as_str(),
        fix.left.effect,
        fix.left.full_refresh.as_str(),
    )
}

/// What becomes worse, a line each.
fn price(fix: &Fix) -> String {
    let line = |price: &Price| match price {
        Price::Worse { dataset, now, then } => format!(
            "  price: `{dataset}` is {} (full refresh: {}) with it, and {} (full refresh: {}) without\n",
            then.effect,
            then.full_refresh.as_str(),
            now.effect,
            now.full_refresh.as_str(),
        ),
        Price::RefreshLost { dataset, effect } => {
            format!(
                "  price: `{dataset}` stays {effect}, and no refresh is asked for any more that would set it right\n"
            )
        }
        Price::RefreshSpoiled { dataset, reason } => format!("  price: a full refresh of `{dataset}`: {reason}\n"),
    };
    fix.prices.iter().map(|price| safe::block(&line(price))).collect()
}

/// The folder that paths are relative to: the one compared, or the repository's.
fn root(args: &ArgMatches, folder: &Path) -> Result<PathBuf, Failure> {
    if let Some(after) = args.get_one::<String>("after") {
        return Ok(folder.join(after));
    }
    revision::root(folder).map_err(diff::failure)
}

/// Writes all files or none: each must hold the very text that the patch was made for.
fn write(root: &Path, found: &Fixes) -> Result<(), Failure> {
    let refused = |path: &str, why: &str| {
        Failure::with_help(
            format!("`{path}` {why}; nothing was written"),
            "take the patch from --dry-run, or compare with the working tree: pipelint fix A",
        )
    };
    let within = root.canonicalize().map_err(|error| refused(&root.display().to_string(), &error.to_string()))?;
    let mut targets = Vec::new();
    for (path, (old, new)) in &found.files {
        let target = root.join(path);
        let full = target.canonicalize().map_err(|error| refused(path, &error.to_string()))?;
        let link = target.symlink_metadata().is_ok_and(|found| found.file_type().is_symlink());
        if link || !full.starts_with(&within) {
            return Err(refused(path, "leads out of the repository, or is a link"));
        }
        let present = std::fs::read(&full).map_err(|error| refused(path, &error.to_string()))?;
        if present != old.as_bytes() {
            return Err(refused(path, "has other changes than the compared revision"));
        }
        targets.push((full, new));
    }
    targets.into_iter().try_for_each(|(full, new)| output::write_file(&full, new))
}
