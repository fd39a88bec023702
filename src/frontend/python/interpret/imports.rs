//! Imports: modules of the repository are executed, others become symbols; data files of the repository can be read.

use super::{Eval, Interpreter};
use crate::frontend::origin::Origin;
use crate::frontend::pyspark::dlt;
use crate::frontend::python::modules::Modules;
use crate::frontend::python::scope::Scope;
use crate::frontend::python::syntax::{ImportedName, Range};
use crate::frontend::python::value::{ModuleValue, SourceText, Value};
use crate::frontend::python::{ParseCache, builtins};
use crate::model::{Diagnostic, DiagnosticLevel};
use crate::project::notebook;
use crate::project::{Language, Unit};
use crate::revision::{self, Tree};
use std::rc::Rc;
use std::sync::Arc;

/// Nested imports.
const MAX_IMPORTS: usize = 40;

/// The repository as a pipeline's Python sees it.
pub struct ProjectFiles<'a> {
    pub unit: &'a Unit,
    pub tree: &'a dyn Tree,
    pub cache: &'a ParseCache,
    pub modules: &'a Modules,
}

impl<'a> ProjectFiles<'a> {
    pub fn new(unit: &'a Unit, tree: &'a dyn Tree, cache: &'a ParseCache, modules: &'a Modules) -> Self {
        ProjectFiles { unit, tree, cache, modules }
    }

    pub fn exists(&self, path: &str) -> bool {
        self.tree.entry(path).is_some()
    }

    /// A data file's text, where it exists and is text. The value that comes of it is unknown otherwise, and says so.
    pub fn data(&self, path: &str) -> Option<String> {
        self.tree.entry(path)?;
        revision::text::shown(self.tree, path).map(|text| text.to_string())
    }

    pub fn has_folder(&self, folder: &str) -> bool {
        let prefix = format!("{folder}/");
        let entries = self.tree.entries();
        let at = entries.partition_point(|entry| entry.path.as_ref() < prefix.as_str());
        entries.get(at).is_some_and(|entry| entry.path.starts_with(&prefix))
    }
}

/// `a/b/../c` without its dots; nothing where it leads out.
pub fn normalize(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

pub fn parent_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn join(folder: &str, rest: &str) -> String {
    if folder.is_empty() { rest.to_owned() } else { format!("{folder}/{rest}") }
}

enum Found {
    Module(String),
    Package { folder: String, init: Option<String> },
}

impl Interpreter<'_> {
    pub(super) fn import(&mut self, names: &[ImportedName], scope: &Rc<Scope>) {
        for name in names {
            let module = self.module(&name.name);
            match &name.alias {
                Some(alias) => scope.assign(alias.clone(), module),
                None => {
                    let top = name.name.split('.').next().unwrap_or(&name.name);
                    let value = if top.len() == name.name.len() { module } else { self.module(top) };
                    scope.assign(top.into(), value);
                }
            }
        }
    }

    pub(super) fn import_from(
        &mut self,
        level: usize,
        module: &Arc<str>,
        names: Option<&[ImportedName]>,
        scope: &Rc<Scope>,
        range: Range,
    ) {
        let source = if level == 0 { self.module(module) } else { self.relative_module(level, module) };
        let Some(names) = names else {
            self.import_star(&source, scope);
            return;
        };
        for name in names {
            let place = self.place(range);
            let value = match &source {
                Value::External(path) => match self.module(&format!("{path}.{}", name.name)) {
                    // A package without a file of its own.
                    module @ Value::Module(_) => module,
                    _ => self.external_member(path, &name.name),
                },
                _ => self.attribute(&source, &name.name, &place).unwrap_or(Value::None),
            };
            scope.assign(name.alias.clone().unwrap_or_else(|| name.name.clone()), value);
        }
    }

    fn external_member(&mut self, path: &str, name: &str) -> Value {
        let full = format!("{path}.{name}");
        if let Some(value) = builtins::constant(self, &full) {
            return value;
        }
        if dlt::is_library(path) || dlt::is_library(&full) {
            return Value::External(dlt::canonical(&full));
        }
        Value::External(canonical(&full))
    }

    fn import_star(&mut self, source: &Value, scope: &Rc<Scope>) {
        match source {
            Value::Module(module) => {
                let listed = module.scope.own("__all__");
                let listed = listed.and_then(|all| self.items_of(&all));
                for (name, value) in module.scope.entries() {
                    let wanted = match &listed {
                        Some(all) => all.items.iter().any(|item| item.as_str() == Some(&name)),
                        None => !name.starts_with('_'),
                    };
                    if wanted {
                        scope.assign(name, value);
                    }
                }
            }
            Value::External(path) => {
                for name in builtins::star_names(path) {
                    let value = self.external_member(path, name);
                    scope.assign((*name).into(), value);
                }
            }
            _ => {}
        }
    }

    /// A module by its dotted name: of the repository, else a symbol.
    pub fn module(&mut self, name: &str) -> Value {
        if dlt::is_library(name) {
            return Value::External(dlt::canonical(name));
        }
        if builtins::is_standard_module(name) {
            return Value::External(canonical(name));
        }
        let relative = name.replace('.', "/");
        for root in self.roots() {
            if let Some(found) = self.find_module(&join(&root, &relative)) {
                return self.load(name, found);
            }
        }
        if let Some(root) = self.files.modules.root_of(self.files.tree, name, &self.source.path)
            && let Some(found) = self.find_module(&join(&root, &relative))
        {
            // The rest of the package is imported from there too.
            self.search_path.push(root);
            return self.load(name, found);
        }
        self.doubts += 1;
        Value::External(canonical(name))
    }

    /// Folders that imports are searched in: the importing file's own, those added to `sys.path`, the project's.
    fn roots(&self) -> Vec<String> {
        let mut roots = vec![parent_of(&self.source.path).to_owned()];
        roots.extend(self.search_path.iter().cloned());
        roots.extend(self.files.unit.python_roots.iter().cloned());
        roots.push(self.pipeline.root.clone());
        roots.push(String::new());
        roots.extend(self.files.modules.package_roots(self.files.tree).iter().cloned());
        let mut seen = std::collections::BTreeSet::new();
        roots.retain(|root| seen.insert(root.clone()));
        roots
    }

    fn relative_module(&mut self, level: usize, module: &str) -> Value {
        let mut folder = parent_of(&self.source.path).to_owned();
        for _ in 1..level {
            folder = parent_of(&folder).to_owned();
        }
        let path = if module.is_empty() { folder } else { join(&folder, &module.replace('.', "/")) };
        let name = path.replace('/', ".");
        match self.find_module(&path) {
            Some(found) => self.load(&name, found),
            None => Value::External(format!(".{name}").into()),
        }
    }

    fn find_module(&self, path: &str) -> Option<Found> {
        let init = format!("{path}/__init__.py");
        if self.files.exists(&init) {
            return Some(Found::Package { folder: path.to_owned(), init: Some(init) });
        }
        let file = format!("{path}.py");
        if self.files.exists(&file) {
            return Some(Found::Module(file));
        }
        let is_package = !path.is_empty() && self.files.has_folder(path) && self.holds_python(path);
        is_package.then(|| Found::Package { folder: path.to_owned(), init: None })
    }

    fn holds_python(&self, folder: &str) -> bool {
        let prefix = format!("{folder}/");
        let entries = self.files.tree.entries();
        let at = entries.partition_point(|entry| entry.path.as_ref() < prefix.as_str());
        let below = entries.get(at..).unwrap_or_default();
        below.iter().take_while(|entry| entry.path.starts_with(&prefix)).any(|entry| entry.path.ends_with(".py"))
    }

    fn load(&mut self, name: &str, found: Found) -> Value {
        let (path, package): (Arc<str>, Option<Arc<str>>) = match &found {
            Found::Module(path) => (path.as_str().into(), None),
            Found::Package { folder, init } => {
                (init.clone().unwrap_or_else(|| format!("{folder}/")).into(), Some(folder.as_str().into()))
            }
        };
        if let Some(module) = self.modules.get(&path) {
            return Value::Module(module.clone());
        }
        let scope = self.new_module_scope(name, &path);
        let module = Rc::new(ModuleValue { name: name.into(), package, scope });
        self.modules.insert(path.clone(), module.clone());
        if self.loading.len() < MAX_IMPORTS && !path.ends_with('/') {
            self.loading.push(path.clone());
            let scope = module.scope.clone();
            self.run_file(&path, Language::Python, &scope);
            self.loading.pop();
        }
        Value::Module(module)
    }

    /// A module by the path of its file.
    pub fn module_at(&mut self, path: &str) -> Option<Value> {
        let path = normalize(path)?;
        let stem = path.strip_suffix(".py")?.to_owned();
        let found = self.find_module(&stem)?;
        Some(self.load(&stem.replace('/', "."), found))
    }

    /// A submodule that an attribute of a package asks for.
    pub(super) fn submodule(&mut self, module: &Rc<ModuleValue>, name: &str) -> Option<Value> {
        let folder = module.package.as_ref()?;
        let found = self.find_module(&join(folder, name))?;
        let dotted = format!("{}.{name}", module.name);
        let value = self.load(&dotted, found);
        module.scope.define(name.into(), value.clone());
        Some(value)
    }

    /// Runs a file or notebook in a namespace.
    pub fn run_file(&mut self, path: &str, language: Language, scope: &Rc<Scope>) {
        let text = match revision::text::text(self.files.tree, path) {
            Ok(text) => text,
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                return;
            }
        };
        let is_notebook = notebook::is_source_notebook(&text);
        let language = if language == Language::Python && is_notebook { Language::PythonNotebook } else { language };
        match language {
            Language::Python => {
                let module = self.files.cache.module(&text);
                let source = SourceText { path: path.into(), cell: None, line_offset: 0, column_offset: 0 };
                self.run_module(&module, source, scope);
            }
            _ => self.run_notebook(path, &text, language, scope),
        }
    }

    fn run_notebook(&mut self, path: &str, text: &str, language: Language, scope: &Rc<Scope>) {
        let cells = match notebook::cells(text, language) {
            Ok(cells) => cells,
            Err(message) => {
                self.diagnostics.push(Diagnostic {
                    level: DiagnosticLevel::Error,
                    code: "notebook-syntax",
                    message,
                    help: None,
                    path: Some(path.to_owned()),
                    span: None,
                });
                return;
            }
        };
        for cell in cells {
            let source = SourceText {
                path: path.into(),
                cell: Some(cell.number),
                line_offset: cell.line.saturating_sub(1),
                column_offset: cell.column_offset,
            };
            match cell.language {
                notebook::CellLanguage::Python => {
                    let module = self.files.cache.module(&cell.text);
                    self.run_module(&module, source, scope);
                }
                notebook::CellLanguage::Sql => {
                    let origin = Origin::File {
                        path: source.path,
                        cell: source.cell,
                        line: cell.line,
                        column: cell.column_offset + 1,
                        indent: cell.column_offset,
                    };
                    self.run_sql_cell(&cell.text, origin);
                }
                notebook::CellLanguage::Run => self.run_other_notebook(path, cell.text.trim(), scope),
                notebook::CellLanguage::Other => {}
            }
        }
    }

    /// `%run ./other`: the other notebook runs in this namespace.
    fn run_other_notebook(&mut self, path: &str, target: &str, scope: &Rc<Scope>) {
        let target = target.split_whitespace().next().unwrap_or_default().trim_matches(['"', '\'']);
        let base = if target.starts_with('/') { String::new() } else { parent_of(path).to_owned() };
        let Some(wanted) = normalize(&join(&base, target)) else { return };
        let candidates = [
            (format!("{wanted}.py"), Language::PythonNotebook),
            (format!("{wanted}.sql"), Language::SqlNotebook),
            (format!("{wanted}.ipynb"), Language::Ipynb),
            (wanted.clone(), if wanted.ends_with(".ipynb") { Language::Ipynb } else { Language::Python }),
        ];
        let found = candidates.into_iter().find(|(candidate, _)| self.files.exists(candidate));
        match found {
            Some((file, language)) => {
                let key: Arc<str> = file.as_str().into();
                if self.loading.len() < MAX_IMPORTS && !self.loading.contains(&key) {
                    self.loading.push(key);
                    self.run_file(&file, language, scope);
                    self.loading.pop();
                }
            }
            None => self.diagnostics.push(Diagnostic {
                level: DiagnosticLevel::Note,
                code: "notebook-not-found",
                message: format!("`%run {target}` names no notebook of the repository; what it defines is not known"),
                help: None,
                path: Some(path.to_owned()),
                span: None,
            }),
        }
    }

    /// Adds a folder to the import path: `sys.path.append(…)`.
    pub fn add_search_path(&mut self, text: &str) {
        // Absolute folders of a workspace end in a folder of the repository.
        let mut rest = text.trim_start_matches('/');
        let here = parent_of(&self.source.path).to_owned();
        if let Some(path) = normalize(&join(&here, text)).filter(|path| path.is_empty() || self.files.has_folder(path))
        {
            self.search_path.push(path);
            return;
        }
        // `{os.getcwd()}/../lib`: an unknown start stands for the file's own folder.
        if let Some((_, after)) = text.split_once('}') {
            let relative = after.trim_start_matches('/');
            if let Some(path) = normalize(&join(&here, relative)) {
                self.search_path.push(path);
            }
            rest = relative;
        }
        while !rest.is_empty() {
            if self.files.has_folder(rest) {
                self.search_path.push(rest.to_owned());
                return;
            }
            match rest.split_once('/') {
                Some((_, shorter)) => rest = shorter,
                None => return,
            }
        }
    }

    /// Text of a data file of the repository, by the path the code gives.
    pub fn data_file(&self, text: &str) -> Option<String> {
        let here = parent_of(&self.source.path).to_owned();
        let mut candidates = vec![join(&here, text), text.trim_start_matches('/').to_owned()];
        candidates.push(join(&self.pipeline.root, text));
        candidates.extend(self.files.unit.python_roots.iter().map(|root| join(root, text)));
        if let Some((_, after)) = text.split_once('}') {
            let relative = after.trim_start_matches('/');
            candidates.push(join(&here, relative));
            candidates.push(join(&self.pipeline.root, relative));
            candidates.push(relative.to_owned());
        }
        let mut rest = text.trim_start_matches('/');
        while let Some((_, shorter)) = rest.split_once('/') {
            candidates.push(shorter.to_owned());
            rest = shorter;
        }
        let paths = candidates.iter().filter_map(|candidate| normalize(candidate));
        paths.into_iter().find_map(|path| self.files.data(&path))
    }

    /// `importlib.import_module(name)`.
    pub fn import_by_name(&mut self, name: &Value) -> Eval<Option<Value>> {
        let Some(name) = name.as_str().map(str::to_owned) else {
            let reason = "which module is loaded is known only at run time: what it defines is not read";
            let name = format!("import_module({})", self.identity(name));
            let place = self.place(Range::default());
            let unread = self.unknown(&name, "unread-module", reason, place);
            self.report_value(&unread, None);
            return Ok(Some(unread));
        };
        Ok(Some(match name.strip_prefix('.') {
            Some(_) => {
                let level = name.chars().take_while(|c| *c == '.').count();
                self.relative_module(level, name.trim_start_matches('.'))
            }
            None => self.module(&name),
        }))
    }
}

/// One path for a library object that several modules export.
pub fn canonical(path: &str) -> Arc<str> {
    const ALIASES: &[(&str, &str)] = &[
        ("pyspark.sql.connect.functions", "pyspark.sql.functions"),
        ("pyspark.sql.functions.builtin", "pyspark.sql.functions"),
        ("pyspark.sql.connect.dataframe", "pyspark.sql"),
        ("pyspark.sql.dataframe.DataFrame", "pyspark.sql.DataFrame"),
        ("pyspark.sql.connect.types", "pyspark.sql.types"),
        ("pyspark.sql.session.SparkSession", "pyspark.sql.SparkSession"),
        ("pyspark.sql.column.Column", "pyspark.sql.Column"),
        ("pyspark.sql.window.Window", "pyspark.sql.Window"),
        ("pyspark.sql.F", "pyspark.sql.functions"),
        ("databricks.connect.DatabricksSession", "pyspark.sql.SparkSession"),
        ("databricks.sdk.runtime.spark", "spark"),
        ("databricks.sdk.runtime.dbutils", "dbutils"),
        ("pyspark.dbutils.DBUtils", "pyspark.dbutils.DBUtils"),
        ("posixpath", "os.path"),
        ("typing_extensions", "typing"),
    ];
    for (from, to) in ALIASES {
        if let Some(rest) = path.strip_prefix(from)
            && (rest.is_empty() || rest.starts_with('.'))
        {
            return format!("{to}{rest}").into();
        }
    }
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalized_and_never_lead_out() {
        assert_eq!(normalize("a/./b/../c").as_deref(), Some("a/c"));
        assert_eq!(normalize("../x"), None);
    }

    #[test]
    fn aliases_replace_whole_segments() {
        assert_eq!(canonical("pyspark.sql.connect.functions.col").as_ref(), "pyspark.sql.functions.col");
        assert_eq!(canonical("pyspark.sql.Functions").as_ref(), "pyspark.sql.Functions");
    }
}
