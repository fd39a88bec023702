//! `resources.jobs` of a bundle: the tasks that run pipelines.

use super::super::JobTask;
use super::super::libraries::{join, parent};
use super::super::yaml::Node;
use super::variables::Variables;
use super::{Bundle, resource_key};

/// Reads every `pipeline_task` of every job of the bundle in `folder`.
pub(super) fn read(root: &Node, variables: &mut Variables<'_>, folder: &str, bundle: &mut Bundle) {
    let jobs = root.at(&["resources", "jobs"]).into_iter().flat_map(Node::entries);
    for (key, job) in jobs {
        let scheduled = ["schedule", "trigger", "continuous"].iter().any(|start| job.get(start).is_some_and(is_live));
        hand_over(job, variables, bundle);
        let mut number = 0usize;
        for task in job.get("tasks").into_iter().flat_map(Node::items) {
            // A task of `for_each_task` stands one level deeper.
            let Some(run) = task.get("pipeline_task").or(task.at(&["for_each_task", "task", "pipeline_task"])) else {
                continue;
            };
            number += 1;
            let span =
                run.get("full_refresh").or(run.get("full_refresh_selection")).unwrap_or(run).span.as_ref().clone();
            let run = variables.resolve(run);
            let names = |list: &str| run.get(list).into_iter().flat_map(Node::items).filter_map(Node::scalar).collect();
            let id = run.get("pipeline_id").and_then(Node::scalar).unwrap_or_default();
            bundle.jobs.push(JobTask {
                job: resource_key(folder, key),
                task: task.get("task_key").and_then(Node::scalar).unwrap_or_else(|| format!("task {number}")),
                pipeline: pipeline_key(&id).map(|key| resource_key(folder, key)),
                full_refresh: is_true(run.get("full_refresh")),
                full_refresh_selection: names("full_refresh_selection"),
                refresh_selection: names("refresh_selection"),
                reset_checkpoint_selection: names("reset_checkpoint_selection"),
                scheduled,
                span: Some(span),
            });
        }
    }
}

/// Parameters of a job's notebooks: the task's own, over the job's defaults.
fn hand_over(job: &Node, variables: &mut Variables<'_>, bundle: &mut Bundle) {
    let shared = job.get("parameters").into_iter().flat_map(Node::items);
    let shared: Vec<(String, Node)> = shared
        .filter_map(|parameter| Some((parameter.get("name")?.scalar()?, parameter.get("default")?.clone())))
        .collect();
    for task in job.get("tasks").into_iter().flat_map(Node::items) {
        let task = task.at(&["for_each_task", "task"]).unwrap_or(task);
        let Some(run) = task.get("notebook_task") else { continue };
        let Some(path) = run.get("notebook_path") else { continue };
        let Some(file) = path.as_str().and_then(|text| join(parent(&path.span.path), text)) else { continue };
        let own = run.get("base_parameters").into_iter().flat_map(Node::entries);
        let own: Vec<(String, Node)> = own.map(|(name, value)| (name.clone(), value.clone())).collect();
        let inherited = shared.iter().filter(|(name, _)| own.iter().all(|(other, _)| other != name));
        for (name, value) in own.iter().chain(inherited) {
            let value = variables.resolve(value).scalar().unwrap_or_default();
            bundle.parameters.push((file.clone(), name.clone(), value));
        }
    }
}

fn is_true(node: Option<&Node>) -> bool {
    node.is_some_and(|node| node.scalar().is_some_and(|text| text.eq_ignore_ascii_case("true")))
}

/// A schedule that is not paused.
fn is_live(start: &Node) -> bool {
    !start.get("pause_status").and_then(Node::as_str).is_some_and(|status| status.eq_ignore_ascii_case("PAUSED"))
}

/// KEY of `{resources.pipelines.KEY.id}`, the placeholder of a pipeline's id.
fn pipeline_key(id: &str) -> Option<&str> {
    id.strip_prefix("{resources.pipelines.")?.strip_suffix(".id}")
}
