//! Where a tree keeps its Python modules.
//!
//! Takes the tree's paths, gives the folders that packages are imported from, and the file behind a dotted name where no such folder
//! leads to it: what puts a package on the path of a cluster (a wheel's build file, an installation script, an environment) may be
//! written in ways that nobody reads, but the module's own path ends in its name.

use crate::revision::Tree;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Files that make their folder one of a package, which a bundle builds as a wheel or `%pip install` takes from there.
const BUILD_FILES: [&str; 3] = ["pyproject.toml", "setup.py", "setup.cfg"];

/// Modules of one tree, looked through when the first of them is asked for.
#[derive(Default)]
pub struct Modules {
    index: OnceLock<Index>,
}

struct Index {
    roots: Vec<String>,
    /// Paths of modules without `.py`, and folders of packages with `__init__.py`, by the last part of their name.
    by_last_name: HashMap<String, Vec<Arc<str>>>,
}

impl Modules {
    /// Folders from which the tree's packages are imported once they are installed, in both layouts of setuptools.
    pub fn package_roots(&self, tree: &dyn Tree) -> &[String] {
        &self.index(tree).roots
    }

    /// The folder from which `dotted` is imported, judged by the paths of the tree's modules: of several the nearest to `importer`.
    pub fn root_of(&self, tree: &dyn Tree, dotted: &str, importer: &str) -> Option<String> {
        let relative = dotted.replace('.', "/");
        let last = relative.rsplit('/').next()?;
        let candidates = self.index(tree).by_last_name.get(last)?;
        let roots = candidates.iter().filter_map(|path| {
            let rest = path.strip_suffix(relative.as_str())?;
            if rest.is_empty() { Some("") } else { rest.strip_suffix('/') }
        });
        let nearest = roots.min_by_key(|root| (usize::MAX - shared_folders(root, importer), root.len(), *root));
        nearest.map(str::to_owned)
    }

    fn index(&self, tree: &dyn Tree) -> &Index {
        self.index.get_or_init(|| {
            let mut index = Index { roots: Vec::new(), by_last_name: HashMap::new() };
            for entry in tree.entries().iter().filter(|entry| crate::project::is_own_code(&entry.path)) {
                let (folder, name) = entry.path.rsplit_once('/').unwrap_or(("", &entry.path));
                if BUILD_FILES.contains(&name) {
                    index.add_root(folder.to_owned());
                    index.add_root(if folder.is_empty() { "src".to_owned() } else { format!("{folder}/src") });
                }
                let module = match name.strip_suffix(".py") {
                    Some("__init__") => folder,
                    Some(_) => entry.path.strip_suffix(".py").unwrap_or_default(),
                    None => continue,
                };
                let last = module.rsplit('/').next().unwrap_or_default().to_owned();
                index.by_last_name.entry(last).or_default().push(module.into());
            }
            index
        })
    }
}

impl Index {
    fn add_root(&mut self, root: String) {
        if !self.roots.contains(&root) {
            self.roots.push(root);
        }
    }
}

/// How many folders two paths begin with alike.
fn shared_folders(one: &str, other: &str) -> usize {
    one.split('/').zip(other.split('/')).take_while(|(a, b)| a == b).count()
}
