//! A stand-in for GitHub's API on loopback: keeps the comments of one pull request and serves releases.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What the stand-in holds.
#[derive(Default)]
pub struct Api {
    /// Id, body and kind of author.
    pub comments: Vec<(u64, String, &'static str)>,
    pub files: BTreeMap<String, Vec<u8>>,
    /// Method and path of each request.
    pub requests: Vec<String>,
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
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("the body");
    let mut words = first.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, reply) = respond(method, path, &body, &mut api.lock().expect("no panic before"));
    let head = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", reply.len());
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&reply));
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
