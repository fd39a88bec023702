//! Finds all pipelines of a tree.

use super::config::{Config, ConfigFile, ExplicitPipeline};
use super::libraries::{self, file_name, is_below, is_code, join, parent, source_file};
use super::parameters::Parameters;
use super::scan::{Signs, is_template, language, signs};
use super::{Language, Options, Project, SourceFile, Unit, bundle, folder, settings, spark_pipeline};
use crate::model::{Diagnostic, DiagnosticLevel, Pipeline, PipelineKind, Platform};
use crate::revision::{EntryKind, Tree, text};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const CONFIG_NAMES: [&str; 2] = ["pipelint.yaml", "pipelint.yml"];

/// Finds the pipelines of a tree and the files that belong to each. Reads specifications whole and code by its bytes only; what is
/// wrong with a specification is a diagnostic, and the rest is found all the same.
pub fn discover(tree: &dyn Tree, options: &Options<'_>) -> Project {
    let mut discovery = Discovery {
        tree,
        options,
        project: Project::default(),
        claims: Claims::default(),
        parameters: Parameters::default(),
    };
    discovery.project.diagnostics.extend(tree.diagnostics().iter().cloned());
    discovery.read_configs();
    discovery.explicit_pipelines();
    discovery.bundles();
    discovery.spark_pipelines();
    discovery.settings_files();
    discovery.unnamed_files();
    discovery.finish()
}

/// That some bundle of the tree has a target, or that the tree has no bundle.
///
/// # Errors
/// No bundle has it: another target's values would be judged, and the commands of a report would fail.
pub fn check_target(tree: &dyn Tree, target: &str) -> Result<(), Box<Diagnostic>> {
    let roots = bundle::root_files(tree);
    let known: BTreeSet<String> = roots.iter().flat_map(|root_file| bundle::targets(tree, root_file)).collect();
    if roots.is_empty() || known.contains(target) {
        return Ok(());
    }
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    let help = if names.is_empty() { "it has no targets".to_owned() } else { format!("it has {}", names.join(", ")) };
    let message = format!("no bundle of {} has a target `{target}`", tree.label());
    Err(Box::new(Diagnostic::new(DiagnosticLevel::Error, "unknown-target", message).with_help(help)))
}

/// What specifications lay claim to.
#[derive(Default)]
struct Claims {
    files: BTreeSet<Arc<str>>,
    /// Folders whose other files belong to a specified pipeline too: helpers it imports, or files left out on purpose.
    folders: BTreeSet<String>,
}

impl Claims {
    fn add(&mut self, root: &str, files: &[Arc<str>]) {
        self.files.extend(files.iter().map(Arc::clone));
        self.folders.extend(files.iter().map(|file| parent(file).to_owned()).filter(|folder| !folder.is_empty()));
        if !root.is_empty() {
            self.folders.insert(root.to_owned());
        }
    }

    fn covers(&self, path: &str) -> bool {
        let mut folder = parent(path);
        loop {
            if self.folders.contains(folder) {
                return true;
            }
            if folder.is_empty() {
                return false;
            }
            folder = parent(folder);
        }
    }
}

struct Discovery<'a> {
    tree: &'a dyn Tree,
    options: &'a Options<'a>,
    project: Project,
    claims: Claims,
    parameters: Parameters,
}

impl Discovery<'_> {
    fn read_configs(&mut self) {
        let given = self.options.config.clone().map(|file| (String::new(), file));
        let mut files: Vec<(String, ConfigFile)> = given.into_iter().collect();
        for entry in self.tree.entries() {
            let folder = parent(&entry.path);
            let is_config = CONFIG_NAMES.contains(&file_name(&entry.path)) && entry.kind == EntryKind::File;
            let known = files.iter().any(|(other, _)| other == folder);
            if is_config && !known && !folder::is_passed_over(&entry.path) {
                match text::text_with_newlines(self.tree, &entry.path) {
                    Ok(text) => {
                        let file = ConfigFile { path: entry.path.to_string(), text: text.to_string() };
                        files.push((folder.to_owned(), file));
                    }
                    Err(unreadable) => self.project.diagnostics.push(*unreadable),
                }
            }
        }
        files.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (folder, file) in files {
            let (config, told) = Config::read(&file, &folder, self.options.parse_schema);
            self.project.diagnostics.extend(told);
            self.project.configs.push(config);
        }
    }

    /// The value of the nearest `pipelint.yaml` that has one.
    fn configured<T>(&self, folder: &str, value: impl Fn(&Config) -> Option<T>) -> Option<T> {
        self.project.configs_for(folder).filter_map(value).last()
    }

    fn explicit_pipelines(&mut self) {
        let explicit: Vec<(String, ExplicitPipeline)> = self
            .project
            .configs
            .iter()
            .flat_map(|config| config.pipelines.iter().map(|pipeline| (config.folder.clone(), pipeline.clone())))
            .collect();
        for (folder, explicit) in explicit {
            let Some(root) = join(&folder, &explicit.root) else {
                let message = format!("the root of `{}` leads out of the repository", explicit.name);
                let problem = Diagnostic::new(DiagnosticLevel::Error, "wrong-value", message).at(&explicit.span);
                self.project.diagnostics.push(problem);
                continue;
            };
            let files = if explicit.libraries.is_empty() {
                let code = libraries::below(self.tree, &with_slash(&root)).iter().filter(|entry| is_code(entry));
                code.map(|entry| Arc::clone(&entry.path)).collect()
            } else {
                let mut found = libraries::find(self.tree, &explicit.libraries, &root);
                self.project.diagnostics.append(&mut found.diagnostics);
                self.project.unresolved.append(&mut found.unresolved);
                found.files
            };
            let mut pipeline = Pipeline::new(explicit.name, PipelineKind::Folder);
            pipeline.root = root.clone();
            pipeline.catalog = explicit.catalog;
            pipeline.schema = explicit.schema;
            pipeline.storage = explicit.storage;
            pipeline.configuration = explicit.configuration;
            pipeline.places = explicit.places;
            pipeline.span = Some(explicit.span);
            self.unit(pipeline, &files, vec![root]);
        }
    }

    fn bundles(&mut self) {
        for root_file in bundle::root_files(self.tree) {
            let folder = parent(&root_file);
            let configured =
                || self.configured(folder, |config| config.target.as_ref().map(|target| target.value.clone()));
            let target = self.options.target.clone().or_else(configured);
            let mut bundle = bundle::read(self.tree, &root_file, target.as_deref());
            bundle.report_into(&mut self.project);
            for (path, name, value) in std::mem::take(&mut bundle.parameters) {
                self.parameters.add(&path, &name, value);
            }
            for found in bundle.pipelines {
                self.unit(found.pipeline, &found.files, found.python_roots);
            }
        }
    }

    fn spark_pipelines(&mut self) {
        let mut folders: BTreeSet<String> = BTreeSet::new();
        for path in spark_pipeline::specifications(self.tree) {
            let Some(mut found) = spark_pipeline::read(self.tree, &path) else { continue };
            if !folders.insert(parent(&path).to_owned()) {
                let message = "Spark refuses a folder with two specifications; the first one is read";
                let problem = Diagnostic::new(DiagnosticLevel::Error, "MULTIPLE_PIPELINE_SPEC_FILES_FOUND", message);
                self.project.diagnostics.push(problem.in_file(&path));
                continue;
            }
            self.project.diagnostics.append(&mut found.diagnostics);
            self.project.unresolved.append(&mut found.unresolved);
            let root = found.pipeline.root.clone();
            self.unit(found.pipeline, &found.files, vec![root]);
        }
    }

    fn settings_files(&mut self) {
        let candidates: Vec<Arc<str>> = self
            .tree
            .entries()
            .iter()
            .filter(|entry| entry.kind == EntryKind::File && entry.path.ends_with(".json"))
            .filter(|entry| !folder::is_passed_over(&entry.path))
            .map(|entry| Arc::clone(&entry.path))
            .collect();
        let tree = self.tree;
        let read: Vec<_> = candidates.par_iter().filter_map(|path| settings::read(tree, path)).collect();
        for read in read {
            let (pipeline, mut found) = match read {
                Ok(read) => read,
                Err(unreadable) => {
                    self.project.diagnostics.push(*unreadable);
                    continue;
                }
            };
            self.project.diagnostics.append(&mut found.diagnostics);
            self.project.unresolved.append(&mut found.unresolved);
            let root = pipeline.root.clone();
            self.unit(pipeline, &found.files, vec![root]);
        }
    }

    /// Code that no specification names: bare folders of pipeline files, streaming jobs, batch jobs.
    fn unnamed_files(&mut self) {
        let tree = self.tree;
        let dbt_projects = self.dbt_projects();
        let claims = &self.claims;
        let candidates: Vec<_> = tree
            .entries()
            .iter()
            .filter(|entry| entry.kind == EntryKind::File && is_code(entry) && !claims.files.contains(&entry.path))
            .filter(|entry| !folder::is_hidden(&entry.path) && !folder::is_exploration(&entry.path))
            .collect();
        let scanned: Vec<Result<(SourceFile, Signs), Box<Diagnostic>>> = candidates
            .par_iter()
            .filter_map(|entry| {
                let text = match text::scannable(tree, &entry.path) {
                    Ok(text) => text,
                    Err(unreadable) => return Some(Err(unreadable)),
                };
                let bytes = text.as_bytes();
                let language = language(&entry.path, bytes)?;
                let signs = signs(bytes, language);
                let is_test = signs.test && folder::is_test_name(&entry.path);
                let in_dbt = || dbt_projects.iter().any(|project| is_below(&entry.path, project));
                if is_test || (language == Language::Sql && in_dbt() && is_template(bytes)) {
                    return None;
                }
                Some(Ok((SourceFile { path: Arc::clone(&entry.path), language, content: entry.content }, signs)))
            })
            .collect();
        for (file, signs) in scanned.iter().flatten() {
            for run in &signs.runs {
                self.parameters.add_run(&file.path, &run.path, &run.parameters);
            }
        }
        let mut bare: BTreeMap<Arc<str>, SourceFile> = BTreeMap::new();
        let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
        for scanned in scanned {
            let (file, signs) = match scanned {
                Ok(scanned) => scanned,
                Err(unreadable) => {
                    self.project.diagnostics.push(*unreadable);
                    continue;
                }
            };
            let config_below =
                |folder: &str| self.project.configs.iter().any(|config| is_below(&config.folder, folder));
            if let Some(folder) = folder::test_or_template(&file.path).filter(|folder| !config_below(folder)) {
                *left_out.entry(folder.to_owned()).or_default() += usize::from(signs.pipeline || signs.stream_write);
            } else if signs.pipeline {
                if !self.claims.covers(&file.path) {
                    bare.insert(Arc::clone(&file.path), file);
                } else if file.language != Language::Python {
                    // Python files may be modules that the pipeline imports; SQL and notebooks are never imported.
                    self.project.diagnostics.push(unclaimed(&file.path));
                }
            } else if signs.stream_write {
                let mut pipeline = Pipeline::new(file.path.as_ref(), PipelineKind::Jobs);
                pipeline.root = parent(&file.path).to_owned();
                let roots = vec![pipeline.root.clone(), String::new()];
                self.add(pipeline, vec![file], roots);
            } else if signs.batch_write {
                let mut pipeline = Pipeline::new(file.path.as_ref(), PipelineKind::Jobs);
                pipeline.root = parent(&file.path).to_owned();
                let roots = vec![pipeline.root.clone(), String::new()];
                self.project.batch_files.push(file.clone());
                let unit = self.configured_unit(pipeline, vec![file], roots);
                self.project.scripts.push(unit);
            }
        }
        for (folder, files) in left_out.into_iter().filter(|(_, files)| *files > 0) {
            self.project.diagnostics.push(left_out_folder(&folder, files));
        }
        let boundaries: Vec<String> = self.project.configs.iter().map(|config| config.folder.clone()).collect();
        let paths: Vec<Arc<str>> = bare.keys().map(Arc::clone).collect();
        for (root, paths) in folder::group(&paths, &boundaries) {
            let mut pipeline = Pipeline::new(if root.is_empty() { "." } else { root.as_str() }, PipelineKind::Folder);
            pipeline.root = root.clone();
            let files = paths.iter().filter_map(|path| bare.remove(path)).collect();
            self.add(pipeline, files, vec![root]);
        }
    }

    /// Folders of dbt projects, whose models are templates that only dbt can make SQL of.
    fn dbt_projects(&mut self) -> Vec<String> {
        let mut folders = Vec::new();
        for entry in self.tree.entries() {
            if file_name(&entry.path) == "dbt_project.yml" && !folder::is_passed_over(&entry.path) {
                let note = Diagnostic::new(
                    DiagnosticLevel::Note,
                    "dbt-project",
                    "dbt's models are templates and are not analysed",
                );
                self.project.diagnostics.push(note.in_file(&entry.path));
                folders.push(parent(&entry.path).to_owned());
            }
        }
        folders
    }

    /// Adds a specified pipeline with the files it names.
    fn unit(&mut self, pipeline: Pipeline, files: &[Arc<str>], python_roots: Vec<String>) {
        self.claims.add(&pipeline.root, files);
        let tree = self.tree;
        let files = files.par_iter().filter_map(|path| source_file(tree, path)).collect();
        self.add(pipeline, files, python_roots);
    }

    /// Adds a unit with what `pipelint.yaml` and the command line say of it.
    fn add(&mut self, pipeline: Pipeline, files: Vec<SourceFile>, python_roots: Vec<String>) {
        let unit = self.configured_unit(pipeline, files, python_roots);
        self.project.units.push(unit);
    }

    /// A unit with what the configuration files say of its folder.
    fn configured_unit(&self, mut pipeline: Pipeline, files: Vec<SourceFile>, python_roots: Vec<String>) -> Unit {
        let root = pipeline.root.clone();
        let configured = self.configured(&root, |config| config.platform);
        pipeline.platform = self.options.platform.or(configured).unwrap_or(pipeline.platform);
        if let Some(version) = self.configured(&root, |config| config.spark_version) {
            pipeline.spark_version = version;
        }
        let format = self.configured(&root, |config| config.table_format.clone());
        pipeline.table_format = format.unwrap_or_else(|| default_format(pipeline.platform).to_owned());
        for config in self.project.configs_for(&root) {
            for facts in &config.sources {
                pipeline.sources.retain(|known| known.name != facts.name);
                pipeline.sources.push(facts.clone());
            }
        }
        let mut roots: Vec<String> = Vec::new();
        // Python looks beside the importing file too.
        let beside = files.iter().filter(|file| file.path.ends_with(".py") || file.path.ends_with(".ipynb"));
        for folder in python_roots.into_iter().chain(beside.map(|file| parent(&file.path).to_owned())) {
            if !roots.contains(&folder) {
                roots.push(folder);
            }
        }
        let parameters = files.first().filter(|_| files.len() == 1).map(|file| self.parameters.of(&file.path));
        Unit { pipeline, files, python_roots: roots, parameters: parameters.unwrap_or_default() }
    }

    fn finish(mut self) -> Project {
        self.project.units.sort_by(|a, b| a.pipeline.key.cmp(&b.pipeline.key));
        // Two units of one key would be taken for one pipeline.
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for unit in &mut self.project.units {
            let count = counts.entry(unit.pipeline.key.clone()).or_default();
            *count += 1;
            if *count > 1 {
                unit.pipeline.key = format!("{} ({count})", unit.pipeline.key);
            }
        }
        self.project
    }
}

fn default_format(platform: Platform) -> &'static str {
    match platform {
        Platform::Lakeflow => "delta",
        Platform::Spark => "parquet",
    }
}

fn with_slash(folder: &str) -> String {
    if folder.is_empty() { String::new() } else { format!("{folder}/") }
}

fn left_out_folder(folder: &str, files: usize) -> Diagnostic {
    let message = format!(
        "pipeline code of tests or templates, named by no specification, is not analysed: {files} file(s) below `{folder}`"
    );
    Diagnostic::new(DiagnosticLevel::Note, "left-out-files", message)
        .in_file(folder)
        .with_help("name them under `pipelines:` of pipelint.yaml, or keep a pipelint.yaml in their folder")
}

fn unclaimed(path: &str) -> Diagnostic {
    let message =
        "the file looks like pipeline code, but the pipeline in its folder does not name it; it is not analysed";
    Diagnostic::new(DiagnosticLevel::Note, "unclaimed-file", message)
        .in_file(path)
        .with_help("name it in the pipeline's libraries, or in `pipelines:` of pipelint.yaml")
}
