//! What real Apache Spark was run with.

use super::{Paint, Style, counted, wrap};
use crate::report::safe;
use crate::verdict::{EngineName, Report};
use std::fmt::Write as _;

/// Substitutions listed without `--explain`.
const SHOWN: usize = 12;

pub fn write(out: &mut String, report: &Report, style: Style, paint: Paint) {
    let Some(spark) = &report.spark else { return };
    let of_spark = report.flows.iter().flat_map(|flow| flow.confirmations()).filter(|(e, _)| *e == EngineName::Spark);
    let ran: Vec<_> = of_spark.map(|(_, confirmation)| confirmation).filter(|c| c.reason().is_none()).collect();
    let confirmed = ran.iter().filter(|confirmation| confirmation.agrees() == Some(true)).count();
    let version = safe::inline(&spark.version);
    let title = if ran.is_empty() {
        format!("Apache Spark {version} ran nothing of it")
    } else {
        format!("Apache Spark {version} ran the code of both revisions: {} confirmed", counted(confirmed, "flow"))
    };
    let _ = writeln!(out, "\n{}", paint.bold(&title));
    let limit = if style.explain { spark.substitutions.len() } else { SHOWN };
    for substitution in spark.substitutions.iter().take(limit) {
        let text = format!("for {} stood {}", safe::inline(&substitution.what), safe::inline(&substitution.by));
        let _ = writeln!(out, "  {}", paint.dim(&wrap::hanging(&text, style.width, 4)));
    }
    if spark.substitutions.len() > limit {
        let _ = writeln!(out, "  … and {} more (--explain lists all)", spark.substitutions.len() - limit);
    }
}
