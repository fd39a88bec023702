//! `--engine spark|both`: what the command line says of Apache Spark.

use super::{Failure, output};
use crate::confirm::spark::{Lakehouse, Settings, installation};
use crate::reading::SparkOptions;
use crate::report::safe;
use clap::ArgMatches;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// None where only the mini engine is asked for.
pub fn options(args: &ArgMatches) -> Result<Option<SparkOptions>, Failure> {
    let alone = match args.try_get_one::<String>("engine").ok().flatten().map(String::as_str) {
        Some("spark") => true,
        Some("both") => false,
        _ => return Ok(None),
    };
    if args.try_get_one::<String>("confirm").ok().flatten().is_some_and(|word| word == "off") {
        return Err(Failure::with_help("--confirm off runs no engine", "leave out --engine or --confirm off"));
    }
    let settings = settings(args)?;
    let installation = installation::find(settings.python.as_deref(), settings.remote.is_none());
    let installation = installation.map_err(|error| match error.reason.split_once(": install ") {
        Some((what, how)) => Failure::with_help(what, format!("install {how}")),
        None => Failure::new(error.reason),
    })?;
    let place = if settings.remote.is_some() { "the given server" } else { "this machine" };
    output::print_note(&format!(
        "the pipelines' own code will be executed on {place} by Apache Spark {}",
        safe::inline(&installation.spark)
    ));
    let quiet = args.try_get_one::<bool>("quiet").ok().flatten().copied().unwrap_or(false);
    Ok(Some(SparkOptions { settings, alone, progress: Box::new(move |text| tell(text, quiet)) }))
}

fn settings(args: &ArgMatches) -> Result<Settings, Failure> {
    let text = |name: &str| args.get_one::<String>(name).cloned();
    let mut conf = BTreeMap::new();
    for pair in args.get_many::<String>("spark-conf").into_iter().flatten() {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(Failure::with_help(format!("`{pair}` is no property"), "write --spark-conf KEY=VALUE"));
        };
        conf.insert(key.trim().to_owned(), value.to_owned());
    }
    conf.extend(text("packages").map(|packages| ("spark.jars.packages".to_owned(), packages)));
    conf.extend(text("jars").map(|jars| ("spark.jars".to_owned(), jars)));
    let remote = text("remote");
    if let Some(url) = &remote {
        if !url.starts_with("sc://") {
            return Err(Failure::with_help(format!("`{url}` is no Spark Connect server"), "write sc://host:port"));
        }
        if url.to_lowercase().contains("token=") {
            return Err(Failure::with_help(
                "a token in an argument can be read by others",
                "put it into the environment variable PIPELINT_SPARK_TOKEN",
            ));
        }
    }
    let table_format = Lakehouse::of(&conf).map(|lakehouse| lakehouse.table_format().to_owned());
    let time_limit = Duration::from_secs(args.get_one::<u64>("time-limit").copied().unwrap_or(300));
    Ok(Settings { remote, conf, table_format, time_limit, ..Settings::default() })
}

/// What Spark is doing, on one line of a terminal's standard error.
fn tell(text: &str, quiet: bool) {
    if !quiet && std::io::stderr().is_terminal() {
        let _ = write!(std::io::stderr().lock(), "\r\u{1b}[K{}", safe::inline(text));
    }
}

/// Takes the line of progress away.
pub fn clear() {
    if std::io::stderr().is_terminal() {
        let _ = write!(std::io::stderr().lock(), "\r\u{1b}[K");
    }
}
