//! A small client: HTTP/1.1 over one connection that is kept open.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

pub(crate) struct HttpClient {
    address: String,
    connection: Option<BufReader<TcpStream>>,
    /// Further lines of the head.
    pub(crate) headers: Vec<(String, String)>,
}

pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) text: String,
}

impl HttpAnswer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }
}

impl HttpClient {
    pub(crate) fn new(address: &str) -> Self {
        Self { address: address.to_owned(), connection: None, headers: Vec::new() }
    }

    /// Sends a request; an error if the connection breaks before the answer is complete.
    pub(crate) fn try_send(&mut self, method: &str, path: &str, body: &str) -> io::Result<HttpAnswer> {
        let result = self.exchange(method, path, body);
        if result.is_err() {
            self.connection = None;
        }
        result
    }

    pub(crate) fn send(&mut self, method: &str, path: &str, body: &Value) -> HttpAnswer {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        self.try_send(method, path, &text).unwrap()
    }

    pub(crate) fn get(&mut self, path: &str) -> HttpAnswer {
        self.send("GET", path, &Value::Null)
    }

    fn exchange(&mut self, method: &str, path: &str, body: &str) -> io::Result<HttpAnswer> {
        if self.connection.is_none() {
            let stream = TcpStream::connect(&self.address)?;
            stream.set_read_timeout(Some(Duration::from_secs(60)))?;
            stream.set_nodelay(true)?;
            self.connection = Some(BufReader::new(stream));
        }
        let connection = self.connection.as_mut().unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
        if !self.headers.iter().any(|(name, _)| name == "Host") {
            head += "Host: localhost\r\n";
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        connection.get_mut().write_all(format!("{head}\r\n{body}").as_bytes())?;
        read_answer(connection)
    }
}

fn line(connection: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    match connection.read_line(&mut line)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(line),
    }
}

fn read_answer(connection: &mut impl BufRead) -> io::Result<HttpAnswer> {
    let first = line(connection)?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or(io::ErrorKind::InvalidData)?;
    let (mut head, mut length, mut chunked) = (first, 0, false);
    loop {
        let next = line(connection)?;
        if next == "\r\n" {
            break;
        }
        let lower = next.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(|_| io::ErrorKind::InvalidData)?;
        }
        chunked |= lower.starts_with("transfer-encoding: chunked");
        head += &next;
    }
    let mut bytes = vec![0; length];
    connection.read_exact(&mut bytes)?;
    while chunked {
        let size = usize::from_str_radix(line(connection)?.trim(), 16).map_err(|_| io::ErrorKind::InvalidData)?;
        let mut chunk = vec![0; size + 2];
        connection.read_exact(&mut chunk)?;
        bytes.extend_from_slice(&chunk[..size]);
        chunked = size > 0;
    }
    let text = String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData)?;
    Ok(HttpAnswer { status, head, text })
}
