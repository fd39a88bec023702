//! What Spark did with a case, as it stands beside it: `spark:` of `case.yaml`, and the rows of `spark.jsonl`.

use super::case::Case;
use pipelint::confirm::spark::VARIES;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

pub struct Record {
    /// Spark's version, and that of the table format.
    pub version: String,
    /// `outcome`, `error_class`, and what else tells of the run.
    pub outcome: serde_json::Map<String, Json>,
    /// Tables at the moments of the run, each with its rows.
    pub rows: Vec<Json>,
}

impl Record {
    /// The record that a case has.
    pub fn known(case: &Case) -> Option<Record> {
        let spark = serde_json::to_value(case.yaml.get("spark")?).ok()?;
        let mut outcome = spark.as_object()?.clone();
        outcome.remove("inputs");
        let version = outcome.remove("version")?.as_str()?.to_owned();
        let text = std::fs::read_to_string(case.folder.join("spark.jsonl")).unwrap_or_default();
        let rows = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Some(Record { version, outcome, rows })
    }

    /// What another run showed that this one did not, in words.
    pub fn differences(&self, other: &Record) -> Vec<String> {
        let mut differences = Vec::new();
        // Which of two writers wins, and so what they leave, is chance.
        if self.is_race() && other.is_race() {
            return differences;
        }
        let keys = |record: &Record| record.outcome.keys().cloned().collect::<Vec<_>>();
        let mut all: Vec<String> = keys(self).into_iter().chain(keys(other)).collect();
        all.sort();
        all.dedup();
        for key in all {
            let (a, b) = (self.outcome.get(&key), other.outcome.get(&key));
            if comparable(a) != comparable(b) && !told_beside(a, b) {
                let text = |value: Option<&Json>| value.map_or_else(|| "nothing".to_owned(), Json::to_string);
                differences.push(format!("{key}: {} was recorded, now {}", text(a), text(b)));
            }
        }
        // What another run tells beyond the record is no difference.
        let (a, b) = (self.moments(), other.moments());
        for moment in a.keys() {
            // A table that AFTER did not change may stand there once.
            let once = || b.get(&moment.replace("before_batch1", "resumed"));
            let (a, b) = (a.get(moment), b.get(moment).or_else(once));
            if a != b && !varies_alone(a, b) {
                let count = |rows: Option<&Vec<String>>| rows.map_or(0, Vec::len);
                let example = b.into_iter().flatten().find(|row| !a.is_some_and(|known| known.contains(row)));
                let example = example.map(|row| format!(", such as {row}")).unwrap_or_default();
                differences.push(format!(
                    "{moment}: {} rows were recorded, now {} of which some differ{example}",
                    count(a),
                    count(b)
                ));
            }
        }
        differences
    }

    fn is_race(&self) -> bool {
        self.outcome.get("error_class").and_then(Json::as_str) == Some("STREAM_FAILED/FILE_SINK_RACE")
    }

    /// Whether this run judged less than another: not run at all, or no effect of a table where the other saw one.
    pub fn judges_less_than(&self, other: &Record) -> bool {
        let not_run = |record: &Record| record.outcome.get("outcome").and_then(Json::as_str) == Some("not-run");
        let effects =
            |record: &Record| record.outcome.get("effects").and_then(Json::as_object).cloned().unwrap_or_default();
        let own = effects(self);
        let lost = |(table, effect): (&String, &Json)| !effect.is_null() && own.get(table).is_none_or(Json::is_null);
        (not_run(self) && !not_run(other)) || effects(other).iter().any(lost)
    }

    /// Rows as sorted text, without their NULLs, by moment and table.
    fn moments(&self) -> BTreeMap<String, Vec<String>> {
        let mut moments = BTreeMap::new();
        for moment in &self.rows {
            let word = |key: &str| moment.get(key).and_then(Json::as_str).unwrap_or_default();
            if is_internal(word("table")) {
                continue;
            }
            let rows = moment.get("rows").and_then(Json::as_array).into_iter().flatten();
            let mut rows: Vec<String> = rows.map(|row| sorted_by_name(row).to_string()).collect();
            rows.sort();
            if !rows.is_empty() {
                moments.insert(format!("{} {}", word("at"), word("table")).trim_end().to_owned(), rows);
            }
        }
        moments
    }

    /// Writes it beside the case, whose other lines stay as they are.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn write(&self, case: &Case) -> Result<(), String> {
        let path = case.folder.join("case.yaml");
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(&path).map_err(failed)?;
        std::fs::write(&path, with_section(&text, &self.section(&case.inputs()))).map_err(failed)?;
        let rows: String = self.rows.iter().map(|moment| format!("{}\n", spaced(moment))).collect();
        let path = case.folder.join("spark.jsonl");
        std::fs::write(&path, rows).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn section(&self, inputs: &str) -> String {
        let mut section = serde_json::Map::new();
        section.insert("version".to_owned(), Json::from(self.version.clone()));
        section.insert("inputs".to_owned(), Json::from(inputs));
        section.extend(self.outcome.clone());
        let body = serde_yaml::to_string(&section).unwrap_or_default();
        let lines: String = body.lines().map(|line| format!("  {line}\n")).collect();
        format!("spark:\n{lines}")
    }
}

/// Whether rows are the same but for the values that no two runs have in common.
fn varies_alone(a: Option<&Vec<String>>, b: Option<&Vec<String>>) -> bool {
    let rows = |rows: Option<&Vec<String>>| -> Vec<serde_json::Map<String, Json>> {
        rows.into_iter().flatten().filter_map(|row| serde_json::from_str(row).ok()).collect()
    };
    let (a, b) = (rows(a), rows(b));
    let varying: BTreeSet<String> =
        b.iter().flatten().filter(|(_, value)| value.as_str() == Some(VARIES)).map(|(name, _)| name.clone()).collect();
    let masked = |rows: &[serde_json::Map<String, Json>]| {
        let cell = |(name, value): (&String, &Json)| {
            (name.clone(), if varying.contains(name) { Json::from(VARIES) } else { value.clone() })
        };
        let mut rows: Vec<String> =
            rows.iter().map(|row| Json::Object(row.iter().map(cell).collect()).to_string()).collect();
        rows.sort();
        rows
    };
    !varying.is_empty() && masked(&a) == masked(&b)
}

/// Tables that Spark keeps for itself beside the target of AUTO CDC.
fn is_internal(table: &str) -> bool {
    table.starts_with("__spark_autocdc")
}

/// Without what tells nothing: the order of labels, NULL, Spark's own tables.
fn comparable(value: Option<&Json>) -> Option<Json> {
    match value {
        Some(Json::Array(items)) => {
            let mut items = items.clone();
            items.sort_by_key(Json::to_string);
            Some(Json::Array(items))
        }
        Some(Json::Object(effects)) => {
            let mut effects: Vec<_> = effects.iter().filter(|(table, _)| !is_internal(table)).collect();
            effects.sort_by_key(|(table, _)| table.as_str());
            Some(Json::Object(effects.into_iter().map(|(table, effect)| (table.clone(), effect.clone())).collect()))
        }
        Some(Json::Null) => None,
        other => other.cloned(),
    }
}

/// Whether one value says of every table what the other does, and of tables that the other does not know something more.
fn told_beside(a: Option<&Json>, b: Option<&Json>) -> bool {
    let (Some(Json::Object(a)), Some(Json::Object(b))) = (a, b) else { return false };
    a.iter().all(|(table, effect)| b.get(table) == Some(effect))
}

fn sorted_by_name(row: &Json) -> Json {
    match row {
        Json::Object(fields) => {
            let mut fields: Vec<(String, Json)> = fields
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| (name.to_lowercase(), sorted_by_name(value)))
                .collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            Json::Object(fields.into_iter().collect())
        }
        Json::Array(items) => Json::Array(items.iter().map(sorted_by_name).collect()),
        Json::Number(number) => number.as_f64().map_or_else(|| row.clone(), rounded),
        Json::String(text) => text.parse().map_or_else(|_| row.clone(), rounded),
        other => other.clone(),
    }
}

/// Sums of doubles differ in their last digits with the order of rows, and stand as numbers or as text.
fn rounded(number: f64) -> Json {
    Json::from(format!("{number:.10e}"))
}

/// JSON in one line with a space after each `,` and `:`, so that long rows wrap.
fn spaced(value: &Json) -> String {
    match value {
        Json::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", Json::from(name.as_str()), spaced(value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// A document with its top-level `spark:` section replaced, or added at the end.
fn with_section(text: &str, section: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    let mut written = false;
    for line in text.lines() {
        let top_level = !line.starts_with([' ', '-', '#']) && !line.is_empty();
        if top_level {
            inside = line.trim_end() == "spark:";
            if inside {
                out.push_str(section);
                written = true;
            }
        }
        if !inside {
            out.push_str(line);
            out.push('\n');
        }
    }
    if !written {
        out.push_str(section);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_section_is_replaced() {
        let text = "about: x\nspark:\n  version: 1\n  outcome:\n  - lost\ndisagrees:\n  rows: why\n";
        assert_eq!(with_section(text, "spark:\n  a: 1\n"), "about: x\nspark:\n  a: 1\ndisagrees:\n  rows: why\n");
        assert_eq!(with_section("about: x\n", "spark:\n  a: 1\n"), "about: x\nspark:\n  a: 1\n");
    }

    #[test]
    fn a_run_that_could_not_judge_does_not_stand_in_for_one_that_did() {
        let record = |outcome: Json| Record {
            version: "4.3.0".to_owned(),
            outcome: outcome.as_object().cloned().unwrap_or_default(),
            rows: Vec::new(),
        };
        let judged = record(serde_json::json!({"outcome": "mixed", "effects": {"t": "wrong-rows"}}));
        let unjudged = record(serde_json::json!({"outcome": "refused", "effects": {"t": null}}));
        let not_run = record(serde_json::json!({"outcome": "not-run"}));
        assert!(unjudged.judges_less_than(&judged) && not_run.judges_less_than(&judged));
        assert!(!judged.judges_less_than(&unjudged) && !not_run.judges_less_than(&not_run));
    }

    #[test]
    fn rows_have_no_order_and_nulls_are_no_difference() {
        let record = |rows: &str| Record {
            version: "4.3.0".to_owned(),
            outcome: serde_json::Map::new(),
            rows: vec![serde_json::from_str(rows).unwrap_or_default()],
        };
        let a = record(r#"{"at": "control", "table": "t", "rows": [{"b": 1, "a": 2}, {"a": 3}]}"#);
        let b = record(r#"{"at": "control", "table": "t", "rows": [{"a": "3.0", "b": null}, {"a": 2, "b": 1}]}"#);
        assert_eq!(a.differences(&b), Vec::<String>::new());
        let c = record(r#"{"at": "control", "table": "t", "rows": [{"a": 3}, {"a": "x", "b": 1}]}"#);
        let differences = a.differences(&c);
        assert_eq!(differences.len(), 1);
        assert!(differences[0].starts_with("control t: 2 rows were recorded, now 2 of which some differ, such as"));
    }
}
