//! A tree with other texts for some of its files, kept in memory: what a patch would make of it.

use super::objects::blob_id;
use super::{ContentId, Entry, ReadError, Tree};
use crate::model::Diagnostic;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Files that `base` does not list are not added.
pub struct Overlay<'a> {
    base: &'a dyn Tree,
    entries: Vec<Entry>,
    texts: BTreeMap<String, Arc<[u8]>>,
}

impl<'a> Overlay<'a> {
    pub fn new(base: &'a dyn Tree, texts: &BTreeMap<String, String>) -> Self {
        let texts: BTreeMap<String, Arc<[u8]>> =
            texts.iter().map(|(path, text)| (path.clone(), Arc::from(text.as_bytes()))).collect();
        let mut entries = base.entries().to_vec();
        for entry in &mut entries {
            if let Some(bytes) = texts.get(entry.path.as_ref()) {
                entry.content = blob_id(bytes).unwrap_or(ContentId([0; 20]));
            }
        }
        Overlay { base, entries, texts }
    }
}

impl Tree for Overlay<'_> {
    fn label(&self) -> &str {
        self.base.label()
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        self.base.diagnostics()
    }

    fn size(&self, path: &str) -> Option<u64> {
        self.texts.get(path).map(|bytes| bytes.len() as u64).or_else(|| self.base.size(path))
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, ReadError> {
        self.texts.get(path).map_or_else(|| self.base.read(path), |bytes| Ok(Arc::clone(bytes)))
    }
}
