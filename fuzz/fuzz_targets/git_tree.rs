//! A tree object of git, written past git's own checks.

#![no_main]

use git2::{ObjectType, Repository, Signature};
use pipelint::revision::open_one;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(folder) = tempfile::tempdir() else { return };
    let made = || -> Result<(), git2::Error> {
        let repository = Repository::init(folder.path())?;
        let tree = repository.odb()?.write(ObjectType::Tree, data)?;
        let who = Signature::new("a", "a@example.org", &git2::Time::new(0, 0))?;
        let tree = repository.find_tree(tree)?;
        repository.commit(Some("HEAD"), &who, &who, "x", &tree, &[])?;
        Ok(())
    };
    if made().is_ok()
        && let Ok(tree) = open_one(Some("HEAD"), folder.path())
    {
        for entry in tree.entries() {
            let _ = tree.read(&entry.path);
        }
    }
});
