//! What was read from files, shared by the two revisions of a comparison.

use super::{Definitions, SourceContext, python};
use crate::model::Pipeline;
use crate::revision::ContentId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// All that the definitions of a self-contained file hang on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    content: ContentId,
    /// Places name it.
    path: Arc<str>,
    /// The pipeline's settings that statements see, as text.
    settings: String,
}

/// Definitions by file content. Only for files whose meaning hangs on nothing but their text and the pipeline's settings.
#[derive(Debug, Default)]
pub struct ParseCache {
    definitions: Mutex<HashMap<Key, Arc<Definitions>>>,
    python: python::ParseCache,
}

impl ParseCache {
    pub fn new() -> Self {
        ParseCache::default()
    }

    /// Python texts that were parsed.
    pub fn python(&self) -> &python::ParseCache {
        &self.python
    }

    /// The definitions of a file, made at most once for each text (two threads that meet may both make them).
    pub fn definitions(&self, context: &SourceContext, make: impl FnOnce() -> Definitions) -> Arc<Definitions> {
        let key = Key {
            content: context.file.content,
            path: Arc::clone(&context.file.path),
            settings: settings(&context.unit.pipeline),
        };
        let known = self.definitions.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        known.unwrap_or_else(|| {
            let made = Arc::new(make());
            let mut definitions = self.definitions.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(definitions.entry(key).or_insert(made))
        })
    }
}

fn settings(pipeline: &Pipeline) -> String {
    let parameters: Vec<_> = pipeline.settings.iter().filter(|(key, _)| key.starts_with("parameters.")).collect();
    format!("{:?}", (pipeline.platform, &pipeline.catalog, &pipeline.schema, &pipeline.configuration, parameters))
}
