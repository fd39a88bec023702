//! Settings of a pipeline: what moves its tables, recreates it, or starts refreshes by itself.

use super::change::Change;
use super::identity::{tables, with_guards};
use crate::model::{Pipeline, PipelineKind, Place, Platform, Span};
use crate::project::JobTask;

/// Settings that force the platform to delete the pipeline and create another one (Databricks CLI `resources.yml`, Terraform
/// provider `resource_pipeline.go`: `recreate_on_changes`).
const RECREATING: &[&str] = &[
    "ingestion_definition.connection_name",
    "ingestion_definition.ingestion_gateway_id",
    "ingestion_definition.ingest_from_uc_foreign_catalog",
    "gateway_definition.connection_id",
    "gateway_definition.connection_name",
    "gateway_definition.gateway_storage_catalog",
    "gateway_definition.gateway_storage_schema",
];

/// Managed ingestion settings by the last part of their name, with what they govern.
const INGESTION: &[(&str, &str)] = &[
    ("primary_keys", "identity"),
    ("sequence_by", "order"),
    ("scd_type", "history"),
    ("row_filter", "rows"),
    ("cursor_columns", "order"),
    ("include_columns", "columns"),
    ("exclude_columns", "columns"),
];

pub fn compare(old: &Pipeline, new: &Pipeline, changes: &mut Vec<Change>) {
    // A bare folder tells no settings that could have changed.
    if old.kind == PipelineKind::Folder && new.kind != PipelineKind::Folder {
        return;
    }
    let value = |text: &Option<String>| text.clone().unwrap_or_default();
    let place =
        |setting: &str| (Place::from(old.places.get(setting).cloned()), Place::from(new.places.get(setting).cloned()));
    let mut push = |change: Change, setting: &str| {
        let (before, after) = place(setting);
        let whole = |place: Place, span: &Option<Span>| place.or(&Place::from(span.clone()));
        changes.push(change.places(&whole(before, &old.span), &whole(after, &new.span)));
    };
    if old.name != new.name && old.kind != PipelineKind::Folder && old.kind != PipelineKind::Jobs {
        push(Change::new("pipeline-renamed", &new.key).values(old.name.as_str(), new.name.as_str()), "name");
    }
    let switches_catalog = new.platform == Platform::Lakeflow
        && ((old.storage.is_some() && old.catalog.is_none() && new.catalog.is_some())
            || (new.storage.is_some() && new.catalog.is_none() && old.catalog.is_some()));
    if switches_catalog {
        let change = Change::new("recreating-setting-changed", &new.key).fact("setting", "storage and catalog").values(
            value(&old.storage.clone().or(old.catalog.clone())),
            value(&new.storage.clone().or(new.catalog.clone())),
        );
        push(with_guards(change, old), "storage");
        return;
    }
    if normalized(&old.storage) != normalized(&new.storage) {
        let change = Change::new("storage-changed", &new.key).values(value(&old.storage), value(&new.storage));
        push(with_guards(change, old), "storage");
    }
    for (kind, setting, b, a) in [
        ("default-catalog-changed", "catalog", &old.catalog, &new.catalog),
        ("default-schema-changed", "schema", &old.schema, &new.schema),
    ] {
        let folded = |name: &Option<String>| name.as_ref().map(|name| name.to_lowercase());
        if folded(b) != folded(a) && old.datasets.iter().any(|dataset| dataset.name.schema.is_some()) {
            push(Change::new(kind, &new.key).values(value(b), value(a)).fact("datasets", tables(old)), setting);
        }
    }
    compare_settings(old, new, &mut push);
}

/// A storage root without the trailing slash that means nothing.
fn normalized(storage: &Option<String>) -> Option<&str> {
    storage.as_deref().map(|path| path.trim_end_matches('/'))
}

fn compare_settings(old: &Pipeline, new: &Pipeline, push: &mut impl FnMut(Change, &str)) {
    let get = |pipeline: &Pipeline, name: &str| pipeline.settings.get(name).cloned().unwrap_or_default();
    let on = |pipeline: &Pipeline, name: &str| get(pipeline, name).eq_ignore_ascii_case("true");
    for setting in RECREATING {
        let (b, a) = (get(old, setting), get(new, setting));
        if b != a && !b.is_empty() {
            let change = Change::new("recreating-setting-changed", &new.key).fact("setting", *setting).values(b, a);
            push(with_guards(change, old), setting);
        }
    }
    for (kind, setting) in [("development-mode-changed", "development"), ("channel-changed", "channel")] {
        let (b, a) = (get(old, setting).to_lowercase(), get(new, setting).to_lowercase());
        // Leaving a default out is writing it.
        let named = |text: &str| match (setting, text) {
            ("development", "") => "false".to_owned(),
            ("channel", "") => "current".to_owned(),
            _ => text.to_owned(),
        };
        if named(&b) != named(&a) {
            push(Change::new(kind, &new.key).values(named(&b), named(&a)), setting);
        }
    }
    let (b, a) = (edition(&get(old, "edition")), edition(&get(new, "edition")));
    if b != a {
        let lost = ["CDC", "expectations"].iter().zip([1, 2]).filter(|(_, rank)| b >= *rank && a < *rank);
        let change = Change::new("edition-changed", &new.key)
            .values(get(old, "edition"), get(new, "edition"))
            .fact("removed", lost.map(|(feature, _)| (*feature).to_owned()).collect::<Vec<_>>());
        push(change, "edition");
    }
    if on(old, "lifecycle.prevent_destroy") && !on(new, "lifecycle.prevent_destroy") {
        let change = Change::new("deletion-guard-removed", &new.key).fact("setting", "lifecycle.prevent_destroy");
        push(change, "lifecycle.prevent_destroy");
    }
    let keeps = |pipeline: &Pipeline| get(pipeline, "cascade_on_destroy").eq_ignore_ascii_case("false");
    if keeps(old) && !keeps(new) {
        push(
            Change::new("deletion-guard-removed", &new.key).fact("setting", "cascade_on_destroy"),
            "cascade_on_destroy",
        );
    }
    compare_ingestion(old, new, push);
}

/// What an edition can do: 0 streaming tables only, 1 with CDC, 2 with expectations. Nothing said is ADVANCED.
fn edition(text: &str) -> u8 {
    match text.to_lowercase().as_str() {
        "core" => 0,
        "pro" => 1,
        _ => 2,
    }
}

fn compare_ingestion(old: &Pipeline, new: &Pipeline, push: &mut impl FnMut(Change, &str)) {
    let names: std::collections::BTreeSet<&String> = old.settings.keys().chain(new.settings.keys()).collect();
    for name in names.into_iter().filter(|name| name.starts_with("ingestion_definition.")) {
        let (b, a) = (old.settings.get(name), new.settings.get(name));
        if b == a {
            continue;
        }
        if name.ends_with("auto_full_refresh_policy.enabled") {
            if a.is_some_and(|value| value.eq_ignore_ascii_case("true")) {
                let change = Change::new("unattended-refresh-added", &new.key).fact("setting", name.as_str());
                push(change.fact("scheduled", true), name);
            }
            continue;
        }
        // `primary_keys.0` and the like: list items are flattened too.
        let governs = INGESTION.iter().find(|(part, _)| name.split('.').any(|piece| piece == *part));
        if let (Some((_, class)), Some(b)) = (governs, b) {
            let change = Change::new("ingestion-setting-changed", &new.key)
                .fact("setting", name.as_str())
                .fact("class", *class)
                .values(b.as_str(), a.map(String::as_str).unwrap_or_default());
            push(change, name);
        }
    }
}

/// Job tasks of AFTER that refresh a pipeline in full on every run and did not in BEFORE. For a plain lint, `before` is empty.
pub fn unattended_refreshes(before: &[JobTask], after: &[JobTask]) -> Vec<Change> {
    let known = |task: &JobTask| {
        before.iter().any(|old| {
            old.job == task.job && old.task == task.task && refreshes(old) && (old.scheduled || !task.scheduled)
        })
    };
    (after.iter())
        .filter(|task| refreshes(task) && !known(task))
        .map(|task| {
            let setting = if task.full_refresh { "full_refresh" } else { "full_refresh_selection" };
            let place = Place::from(task.span.clone());
            Change::new("unattended-refresh-added", task.pipeline.as_deref().unwrap_or_default())
                .fact("setting", format!("{setting} of task {} in job {}", task.task, task.job))
                .fact("scheduled", task.scheduled)
                .places(&Place::unknown(), &place)
        })
        .collect()
}

fn refreshes(task: &JobTask) -> bool {
    task.full_refresh || !task.full_refresh_selection.is_empty()
}
