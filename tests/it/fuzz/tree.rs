//! A revision in memory.

use pipelint::revision::{ContentId, Entry, EntryKind, ReadError, Tree};
use sha1::{Digest, Sha1};
use std::collections::BTreeMap;
use std::sync::Arc;

pub struct Memory {
    label: &'static str,
    entries: Vec<Entry>,
    files: BTreeMap<String, Arc<[u8]>>,
}

impl Memory {
    pub fn new(label: &'static str, files: &BTreeMap<String, Vec<u8>>) -> Self {
        let entry = |(path, bytes): (&String, &Vec<u8>)| {
            let content = ContentId(Sha1::digest(bytes).into());
            Entry { path: path.as_str().into(), kind: EntryKind::File, content }
        };
        let files_of = |(path, bytes): (&String, &Vec<u8>)| (path.clone(), bytes.as_slice().into());
        Memory { label, entries: files.iter().map(entry).collect(), files: files.iter().map(files_of).collect() }
    }
}

impl Tree for Memory {
    fn label(&self) -> &str {
        self.label
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, ReadError> {
        let missing = || ReadError { path: path.to_owned(), message: "no such file".to_owned(), help: None };
        self.files.get(path).cloned().ok_or_else(missing)
    }
}
