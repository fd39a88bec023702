//! Hostile and broken inputs, one test each: `inputs.yaml` says what stands in the files and what must come of it.
//!
//! In every case the program ends by itself with the expected exit code, meets no bug, writes no escape sequence, begins no line of its
//! output with a workflow command that the input wrote, and leaves no file behind. `docs/src/hostile-input.md` is the table of
//! all inputs: `PIPELINT_BLESS=1 cargo test --test it hostile::` writes it.

use libtest_mimic::Trial;
use serde_yaml::Value as Yaml;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PIPELINE: &str = "CREATE OR REFRESH STREAMING TABLE orders AS SELECT id, ts FROM STREAM(raw.orders);\n";
/// A program that hangs is ended after this; no test measures how long one takes.
const HANGS: Duration = Duration::from_secs(120);

fn inputs() -> Vec<Yaml> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/hostile/inputs.yaml");
    serde_yaml::from_str(&std::fs::read_to_string(path).expect("the inputs")).expect("inputs.yaml is a list")
}

fn text<'a>(input: &'a Yaml, key: &str) -> &'a str {
    input[key].as_str().unwrap_or_else(|| panic!("{input:?} lacks {key}"))
}

/// The bytes of a file as `inputs.yaml` writes them; none for a file that is not there.
fn bytes(content: &Yaml) -> Option<Vec<u8>> {
    if content.is_null() {
        return None;
    }
    if let Some(text) = content.as_str() {
        return Some(text.as_bytes().to_vec());
    }
    if let Some(hex) = content["hex"].as_str() {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("two digits");
        return Some(digits.chunks(2).map(byte).collect());
    }
    let unit = content["repeat"][0].as_str().expect("what is repeated");
    let times = content["repeat"][1].as_u64().expect("how many times");
    let mut all = content["begin"].as_str().unwrap_or_default().to_owned();
    for number in 1..=times {
        all.push_str(&unit.replace('#', &number.to_string()).replace('@', &(number - 1).to_string()));
    }
    all.push_str(content["end"].as_str().unwrap_or_default());
    Some(all.into_bytes())
}

fn write(side: &Path, files: &Yaml) {
    std::fs::create_dir_all(side).expect("a folder");
    std::fs::write(side.join("orders.sql"), PIPELINE).expect("the pipeline");
    for (name, content) in files.as_mapping().into_iter().flatten() {
        let path = side.join(name.as_str().expect("a path"));
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        match bytes(content) {
            Some(bytes) => std::fs::write(&path, bytes).expect("the file"),
            None => std::fs::remove_file(&path).expect("a file to remove"),
        }
    }
}

#[cfg(unix)]
fn add_special(side: &Path, also: &Yaml) {
    if let (Some(path), Some(target)) = (also["link"][0].as_str(), also["link"][1].as_str()) {
        std::os::unix::fs::symlink(target, side.join(path)).expect("a link");
    }
    if let Some(path) = also["fifo"].as_str() {
        assert!(Command::new("mkfifo").arg(side.join(path)).status().expect("mkfifo runs").success());
    }
    if let Some(path) = also["folder"].as_str() {
        std::fs::create_dir(side.join(path)).expect("a folder");
    }
}

/// The exit code and what was printed; both outputs are read by threads, so that none fills up.
fn run(folder: &Path, arguments: &[String]) -> (Option<i32>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pipelint"))
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CEILING_DIRECTORIES", folder.parent().expect("a parent"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("pipelint starts");
    let reader = |mut pipe: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).expect("the output is read");
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let stdout = reader(Box::new(child.stdout.take().expect("its output")));
    let stderr = reader(Box::new(child.stderr.take().expect("its errors")));
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("its status") {
            break status;
        }
        if began.elapsed() > HANGS {
            child.kill().expect("it can be ended");
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    (status.code(), format!("{}{}", stdout.join().expect("a text"), stderr.join().expect("a text")))
}

fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(files_below(&path));
        } else {
            found.push(path.to_string_lossy().into_owned());
        }
    }
    found.sort();
    found
}

/// As GitHub's runner reads a line: blanks, two colons, the command's name, perhaps properties, and two colons.
fn is_workflow_command(line: &str) -> bool {
    let Some((command, _)) = line.trim_start().strip_prefix("::").and_then(|rest| rest.split_once("::")) else {
        return false;
    };
    command.starts_with(|letter: char| letter.is_ascii_lowercase())
}

fn check(input: &Yaml) {
    let folder = tempfile::tempdir().expect("a folder");
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    write(&before, &input["before"]);
    write(&after, &input["after"]);
    #[cfg(unix)]
    add_special(&after, &input["also"]);
    let given = input["args"].as_sequence().map(|words| words.iter().filter_map(Yaml::as_str).collect::<Vec<_>>());
    let arguments = given.unwrap_or_else(|| vec!["diff", "--before", "before", "--after", "after"]);
    let arguments: Vec<String> = arguments.into_iter().map(str::to_owned).collect();
    let here = files_below(folder.path());
    let (code, output) = run(folder.path(), &arguments);
    let shown: String = output.chars().take(3000).collect();
    assert!(!output.contains("met a bug") && code.is_some(), "{code:?}:\n{shown}");
    assert!(!output.contains('\u{1b}') && !output.contains('\u{202e}'), "raw control characters:\n{shown}");
    assert!(!output.lines().any(is_workflow_command), "a workflow command:\n{shown}");
    assert_eq!(files_below(folder.path()), here, "files were written");
    let wanted = (input["exit"].as_i64(), text(input, "says"));
    assert!(code.map(i64::from) == wanted.0 && output.contains(wanted.1), "{wanted:?} is not {code:?} and:\n{shown}");
    // The other direction ends too.
    if input["args"].is_null() {
        let (code, output) = run(folder.path(), &["diff", "--before", "after", "--after", "before"].map(str::to_owned));
        assert!(code.is_some() && !output.contains("met a bug"), "{code:?}: {output}");
    }
}

fn the_page_lists_every_input() {
    let mut page = String::from(
        "# Hostile input\n\n\
         A pull request may hold anything. Each row is an input that was tried, and is tried again by every run of the tests \
         (`tests/it/hostile/inputs.yaml`): the program ends with this exit code, meets no bug, runs no code of the input, writes no file, \
         and prints no escape sequence and no workflow command. Unless the first word says otherwise, the input stands in the newer of two \
         folders that are compared. What it holds to is in [SECURITY.md](https://github.com/pipelint/pipelint/blob/main/SECURITY.md).\n\n\
         Exit codes: 0 nothing at or above `--fail-on`; 1 findings, or a file that the change made unreadable; 2 wrong usage, an error of \
         the tool, or nothing analysed.\n\n\
         | | input | exit code | the output says |\n| --- | --- | --- | --- |\n",
    );
    let inputs = inputs();
    for (index, input) in inputs.iter().enumerate() {
        let exit = input["exit"].as_i64().expect("an exit code");
        let _ = writeln!(page, "| {} | {} | {exit} | `{}` |", index + 1, text(input, "what"), text(input, "says"));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src/hostile-input.md");
    if std::env::var_os("PIPELINT_BLESS").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    assert!(inputs.len() >= 100, "{} inputs", inputs.len());
    assert_eq!(std::fs::read_to_string(&path).expect("the page"), page, "see PIPELINT_BLESS");
}

/// One test for each input, and the page that lists them.
pub fn tests() -> Vec<Trial> {
    let mut tests = vec![crate::trial("hostile::the_page_lists_every_input".to_owned(), the_page_lists_every_input)];
    if cfg!(unix) {
        let tried = |input: Yaml| crate::trial(format!("hostile::{}", text(&input, "what")), move || check(&input));
        tests.extend(inputs().into_iter().map(tried));
    }
    tests
}
