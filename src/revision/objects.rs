//! Git's objects, read by several threads.

use super::{ContentId, MAX_FILE_BYTES, ReadError};
use git2::{ErrorCode, ObjectType, Oid, Repository};
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_zlib_with_limit};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Files above this many bytes are not kept after they are read.
const MAX_KEPT_BYTES: usize = 256 * 1024;

/// A repository's objects. libgit2's handles serve one thread at a time, so each reader borrows one of a pool. Contents are kept:
/// both sides of a comparison share most of them.
pub(super) struct Objects {
    git_dir: PathBuf,
    handles: Mutex<Vec<Repository>>,
    contents: Mutex<HashMap<ContentId, Arc<[u8]>>>,
}

/// Locks; a reader that panicked leaves nothing half done behind.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Objects {
    pub(super) fn new(repository: Repository) -> Self {
        Objects {
            git_dir: repository.path().to_path_buf(),
            handles: Mutex::new(vec![repository]),
            contents: Mutex::new(HashMap::new()),
        }
    }

    /// Runs `work` with a handle of its own.
    pub(super) fn with<T, E: From<git2::Error>>(&self, work: impl FnOnce(&Repository) -> Result<T, E>) -> Result<T, E> {
        let pooled = lock(&self.handles).pop();
        let repository = match pooled {
            Some(repository) => repository,
            None => Repository::open(&self.git_dir)?,
        };
        let result = work(&repository);
        lock(&self.handles).push(repository);
        result
    }

    /// A blob's length.
    pub(super) fn size(&self, id: ContentId) -> Option<u64> {
        let header = self.with(|repository| repository.odb()?.read_header(Oid::from_bytes(&id.0)?));
        header.ok().map(|(size, _)| size as u64)
    }

    /// A blob's bytes; `path` is for the message.
    pub(super) fn read(&self, id: ContentId, path: &str) -> Result<Arc<[u8]>, ReadError> {
        if let Some(known) = lock(&self.contents).get(&id) {
            return Ok(Arc::clone(known));
        }
        let blob = self.with(|repository| read_blob(repository, id)).map_err(|error| read_error(&error, id, path))?;
        let bytes = match blob {
            Blob::Bytes(bytes) => bytes,
            Blob::TooBig(size) => return Err(too_big(path, size)),
        };
        if bytes.len() <= MAX_KEPT_BYTES {
            lock(&self.contents).insert(id, Arc::clone(&bytes));
        }
        Ok(bytes)
    }
}

enum Blob {
    Bytes(Arc<[u8]>),
    TooBig(u64),
}

/// Fails where the object's own file is damaged: libgit2 waits for ever for the rest of compressed data that ends too early.
/// Objects in packs are libgit2's to check.
pub(super) fn check_loose(repository: &Repository, oid: Oid) -> Result<(), git2::Error> {
    let name = oid.to_string();
    let (folder, file) = name.split_at(2);
    let Ok(compressed) = std::fs::read(repository.commondir().join("objects").join(folder).join(file)) else {
        return Ok(());
    };
    let limit = usize::try_from(MAX_FILE_BYTES).unwrap_or(usize::MAX);
    match decompress_to_vec_zlib_with_limit(&compressed, limit) {
        Ok(_) => Ok(()),
        Err(error) if error.status == TINFLStatus::HasMoreOutput => Ok(()),
        Err(_) => Err(git2::Error::from_str(&format!("the object {name} is damaged; `git fsck` says what else is"))),
    }
}

fn read_blob(repository: &Repository, id: ContentId) -> Result<Blob, git2::Error> {
    let oid = Oid::from_bytes(&id.0)?;
    check_loose(repository, oid)?;
    let odb = repository.odb()?;
    let (size, _) = odb.read_header(oid)?;
    if size as u64 > MAX_FILE_BYTES {
        return Ok(Blob::TooBig(size as u64));
    }
    let object = odb.read(oid)?;
    if object.kind() != ObjectType::Blob {
        return Err(git2::Error::from_str("the object is not a file"));
    }
    Ok(Blob::Bytes(object.data().into()))
}

/// A file over the limit.
pub(super) fn too_big(path: &str, size: u64) -> ReadError {
    ReadError::new(path, format!("the file has {size} bytes; files above {MAX_FILE_BYTES} bytes are not read"))
}

fn read_error(error: &git2::Error, id: ContentId, path: &str) -> ReadError {
    if error.code() != ErrorCode::NotFound {
        return ReadError::new(path, format!("git cannot read the file: {}", error.message()));
    }
    let oid: String = id.0.iter().map(|byte| format!("{byte:02x}")).collect();
    ReadError {
        path: path.to_owned(),
        message: format!("the file's content (blob {oid}) is not in this clone"),
        help: Some(format!(
            "a partial clone fetches it with `git cat-file -e {oid}`, or all files with `git fetch --refetch --no-filter origin`"
        )),
    }
}

/// The id that git gives to a file of these bytes.
pub(super) fn blob_id(bytes: &[u8]) -> Result<ContentId, git2::Error> {
    Oid::hash_object(ObjectType::Blob, bytes).map(content_id)
}

pub(super) fn content_id(oid: Oid) -> ContentId {
    let mut id = [0u8; 20];
    for (to, from) in id.iter_mut().zip(oid.as_bytes()) {
        *to = *from;
    }
    ContentId(id)
}
