//! The user's Apache Spark: the Python that has it, its version, and Java.

use crate::confirm::NotRun;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Versions of Apache Spark that the confirmation was tested with.
pub const TESTED: &str = "4.1, 4.2 and 4.3";

/// A Python with `pyspark[pipelines]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    pub python: PathBuf,
    pub version: (u32, u32),
    /// As pyspark spells its version.
    pub spark: String,
}

/// What to do where something is missing; a remote server has a Java of its own.
fn how_to(local: bool) -> String {
    let java = if local { " and Java 17" } else { "" };
    format!(
        "install it with `pip install \"pyspark[pipelines]\"` (Python 3.10 or newer){java}, or name a Python that has it in \
         PIPELINT_PYTHON; needs Spark 4.1 or newer, tested with {TESTED}"
    )
}

/// Finds the installation: the named Python, else that of `PIPELINT_PYTHON`, else `python3` (`python` on Windows). A local server
/// needs Java too.
///
/// # Errors
/// What is missing, and how to install it.
pub fn find(python: Option<&Path>, local: bool) -> Result<Installation, NotRun> {
    let default = || PathBuf::from(if cfg!(windows) { "python" } else { "python3" });
    let python = python.map(Path::to_owned).or_else(|| std::env::var_os("PIPELINT_PYTHON").map(PathBuf::from));
    let python = python.unwrap_or_else(default);
    let probe = "import pyspark, pyspark.pipelines.cli; print(pyspark.__version__)";
    let output = Command::new(&python).args(["-c", probe]).output();
    let missing = |what: String| NotRun { reason: format!("{what}: {}", how_to(local)) };
    let output = output.map_err(|error| missing(format!("cannot start `{}` ({error})", python.display())))?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        let last = error.trim().lines().last().unwrap_or("no reason given");
        return Err(missing(format!("`{}` has no Apache Spark with declarative pipelines ({last})", python.display())));
    }
    let version = version_of(&said)
        .ok_or_else(|| missing(format!("`{}` has a Spark of unknown version `{said}`", python.display())))?;
    if version < (4, 1) {
        return Err(missing(format!("Spark {said} has no declarative pipelines")));
    }
    if local {
        java().map_err(missing)?;
    }
    Ok(Installation { python, version, spark: said })
}

fn java() -> Result<(), String> {
    let java = std::env::var_os("JAVA_HOME")
        .map_or_else(|| PathBuf::from("java"), |home| PathBuf::from(home).join("bin/java"));
    let output = Command::new(&java)
        .arg("-version")
        .output()
        .map_err(|error| format!("cannot start `{}` ({error})", java.display()))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match java_version(&said) {
        Some(version) if version >= 17 => Ok(()),
        Some(version) => Err(format!("Java {version} is too old for Spark 4")),
        None => Err(format!("`{} -version` does not tell a version", java.display())),
    }
}

/// Out of `4.3.0`.
pub fn version_of(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Out of `openjdk version "17.0.15" 2025-04-15`.
fn java_version(text: &str) -> Option<u32> {
    let quoted = text.split('"').nth(1)?;
    quoted.split(['.', '-', '+']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_java_and_pyspark_write_them() {
        assert_eq!(java_version("openjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime"), Some(17));
        assert_eq!(java_version("java version \"1.8.0_442\""), Some(1));
        assert_eq!(java_version("no such thing"), None);
        assert_eq!(version_of("4.3.0"), Some((4, 3)));
        assert_eq!(version_of("4.2.0.dev1"), Some((4, 2)));
        assert_eq!(version_of("four"), None);
    }
}
