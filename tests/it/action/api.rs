//! A stand-in for GitHub on loopback: keeps the comments of one pull request, serves releases, and a private repository.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

/// What the stand-in holds.
#[derive(Default)]
pub struct Api {
    /// Id, body and kind of author.
    pub comments: Vec<(u64, String, &'static str)>,
    pub files: BTreeMap<String, Vec<u8>>,
    /// Method and path of each request.
    pub requests: Vec<String>,
    /// Folder of the bare repositories that are served below `/git/`, to who has the token.
    pub repositories: Option<PathBuf>,
}

/// One request.
struct Request {
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

#[derive(Clone)]
pub struct StandIn {
    pub url: String,
    pub api: Arc<Mutex<Api>>,
}

impl StandIn {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let api = Arc::new(Mutex::new(Api::default()));
        let shared = Arc::clone(&api);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream, &shared);
            }
        });
        StandIn { url, api }
    }

    pub fn bodies(&self) -> Vec<String> {
        self.api.lock().expect("no panic before").comments.iter().map(|(_, body, _)| body.clone()).collect()
    }
}

fn answer(mut stream: TcpStream, api: &Mutex<Api>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut first = String::new();
    reader.read_line(&mut first).expect("a request");
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        let Some((name, value)) = line.trim().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").map_or(0, |value| value.parse().expect("a number"));
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("the body");
    let mut words = first.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let request = Request { method, path, headers, body };
    let repositories = api.lock().expect("no panic before").repositories.clone();
    let reply = match repositories.filter(|_| request.path.starts_with("/git/")) {
        Some(folder) => git_backend(&request, &folder),
        None => {
            let (status, body) =
                respond(&request.method, &request.path, &request.body, &mut api.lock().expect("no panic before"));
            let head = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            [head.into_bytes(), body].concat()
        }
    };
    let _ = stream.write_all(&reply);
}

/// Git over HTTP by git's own program, to who shows the token.
fn git_backend(request: &Request, folder: &Path) -> Vec<u8> {
    let header = |name: &str| request.headers.get(name).cloned().unwrap_or_default();
    // `x-access-token:secret-token`
    if header("authorization").rsplit(' ').next() != Some("eC1hY2Nlc3MtdG9rZW46c2VjcmV0LXRva2Vu") {
        return b"HTTP/1.1 401 x\r\nWWW-Authenticate: Basic realm=\"git\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec();
    }
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let mut backend = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", folder)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", path.trim_start_matches("/git"))
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", &request.method)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("git http-backend starts");
    backend.stdin.take().expect("its input").write_all(&request.body).expect("the body is taken");
    let out = backend.wait_with_output().expect("it ends").stdout;
    [&b"HTTP/1.1 200 x\r\nConnection: close\r\n"[..], &out].concat()
}

fn respond(method: &str, path: &str, body: &[u8], api: &mut Api) -> (u16, Vec<u8>) {
    api.requests.push(format!("{method} {path}"));
    let text = || -> String {
        let value: Value = serde_json::from_slice(body).expect("JSON");
        value["body"].as_str().expect("a body").to_owned()
    };
    let (route, query) = path.split_once('?').unwrap_or((path, ""));
    match (method, route) {
        ("GET", "/repos/o/r/issues/7/comments") => {
            let page: usize = query.rsplit("page=").next().and_then(|n| n.parse().ok()).expect("a page");
            let listed = api.comments.iter().skip((page - 1) * 100).take(100);
            let list: Vec<Value> =
                listed.map(|(id, body, kind)| json!({ "id": id, "body": body, "user": { "type": kind } })).collect();
            (200, Value::Array(list).to_string().into_bytes())
        }
        ("POST", "/repos/o/r/issues/7/comments") => {
            let id = 1000 + api.comments.len() as u64;
            api.comments.push((id, text(), "Bot"));
            (201, b"{}".to_vec())
        }
        ("PATCH", _) => {
            let id: u64 = route.rsplit('/').next().and_then(|id| id.parse().ok()).expect("an id");
            let body = text();
            let comment = api.comments.iter_mut().find(|(known, ..)| *known == id).expect("a known comment");
            comment.1 = body;
            (200, b"{}".to_vec())
        }
        ("GET", file) => match api.files.get(file) {
            Some(bytes) => (200, bytes.clone()),
            None => (404, Vec::new()),
        },
        _ => (405, Vec::new()),
    }
}
