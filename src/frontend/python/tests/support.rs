//! A tree in memory, and a pipeline over all its files.

use crate::frontend::Definitions;
use crate::frontend::python::{Modules, ParseCache, load};
use crate::model::{Flow, Pipeline, PipelineKind, Platform};
use crate::project::{Language, SourceFile, Unit};
use crate::revision::{ContentId, Entry, EntryKind, ReadError, Tree};
use std::collections::BTreeMap;
use std::sync::Arc;

pub struct MemoryTree {
    entries: Vec<Entry>,
    files: BTreeMap<String, Arc<[u8]>>,
}

impl MemoryTree {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let files: BTreeMap<String, Arc<[u8]>> =
            files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().into())).collect();
        let entries = files
            .keys()
            .map(|path| Entry { path: path.as_str().into(), kind: EntryKind::File, content: ContentId([0; 20]) })
            .collect();
        MemoryTree { entries, files }
    }
}

impl Tree for MemoryTree {
    fn label(&self) -> &str {
        "memory"
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, ReadError> {
        self.files.get(path).cloned().ok_or_else(|| ReadError {
            path: path.to_owned(),
            message: "missing".to_owned(),
            help: None,
        })
    }
}

pub fn pipeline(platform: Platform) -> Pipeline {
    Pipeline { platform, ..Pipeline::new("p", PipelineKind::Folder) }
}

/// Loads the named files of a tree as one Lakeflow pipeline.
pub fn load_files(files: &[(&str, &str)], sources: &[&str]) -> Definitions {
    load_on(Platform::Lakeflow, files, sources)
}

pub fn load_on(platform: Platform, files: &[(&str, &str)], sources: &[&str]) -> Definitions {
    let tree = MemoryTree::new(files);
    let files = sources
        .iter()
        .map(|path| SourceFile {
            path: (*path).into(),
            language: if path.ends_with(".ipynb") { Language::Ipynb } else { Language::Python },
            content: ContentId([0; 20]),
        })
        .collect();
    let unit = Unit { pipeline: pipeline(platform), files, python_roots: Vec::new(), parameters: BTreeMap::new() };
    load(&unit, &tree, &ParseCache::default(), &Modules::default())
}

/// Loads one file.
pub fn load_text(text: &str) -> Definitions {
    load_files(&[("a.py", text)], &["a.py"])
}

pub fn flow<'d>(definitions: &'d Definitions, name: &str) -> &'d Flow {
    definitions.flows.iter().find(|flow| flow.name == name).unwrap_or_else(|| {
        let names: Vec<_> = definitions.flows.iter().map(|flow| flow.name.as_str()).collect();
        panic!("no flow {name} among {names:?}")
    })
}
