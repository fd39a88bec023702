//! Values that notebooks are run with: by tasks of jobs, and by `dbutils.notebook.run` of other notebooks.

use super::libraries::{join, parent};
use std::collections::{BTreeMap, BTreeSet};

/// By the path of the notebook's file and the name of the widget: every value that some caller gives.
#[derive(Debug, Clone, Default)]
pub(super) struct Parameters {
    by_path: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

impl Parameters {
    pub fn add(&mut self, path: &str, name: &str, value: String) {
        self.by_path.entry(path.to_owned()).or_default().entry(name.to_owned()).or_default().insert(value);
    }

    /// What a notebook of `caller` hands over, by the path it writes.
    pub fn add_run(&mut self, caller: &str, written: &str, parameters: &[(String, String)]) {
        let base = if written.starts_with('/') { "" } else { parent(caller) };
        let Some(path) = join(base, written) else { return };
        for (name, value) in parameters {
            self.add(&path, name, value.clone());
        }
    }

    /// The parameters of a file: callers that disagree leave a symbol, another one for other values.
    pub fn of(&self, path: &str) -> BTreeMap<String, String> {
        let without_extension = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        let mut all: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
        for (name, values) in [path, without_extension].iter().filter_map(|path| self.by_path.get(*path)).flatten() {
            all.entry(name).or_default().extend(values);
        }
        let value = |values: BTreeSet<&String>| match values.iter().next() {
            Some(only) if values.len() == 1 => (*only).clone(),
            _ => {
                let listed: Vec<String> = values.into_iter().map(|value| value.replace(['{', '}'], "")).collect();
                format!("{{{}}}", listed.join(" or "))
            }
        };
        all.into_iter().map(|(name, values)| (name.clone(), value(values))).collect()
    }
}
