//! The service as a program: its answers over HTTP, and what is left after it was killed.

#![cfg(all(unix, feature = "serve"))] // signals
#![allow(clippy::unwrap_used)] // a test may panic

mod api;
mod client;
mod crash;
mod files;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use client::HttpClient;
use serde_json::{Value, json};

/// A running service. It is killed when the test ends, however it ends.
pub(crate) struct RunningService {
    child: Child,
    address: String,
}

fn program(arguments: &[&str], data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_calibandit"));
    command.args(arguments).arg("--data").arg(data).stdin(Stdio::null());
    command
}

impl RunningService {
    /// Starts the program at a free port of this machine, and waits until it listens.
    pub(crate) fn start(data: &Path, options: &[&str]) -> Self {
        let arguments = [&["serve", "--listen", "127.0.0.1:0"], options].concat();
        let mut child = program(&arguments, data).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).and_then(|rest| rest.split(',').next());
        let address = address.unwrap_or_else(|| panic!("the service did not start: `{line}`")).to_owned();
        Self { child, address }
    }

    pub(crate) fn client(&self) -> HttpClient {
        HttpClient::new(&self.address)
    }

    /// Ends the process without a warning.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks the process to stop, and returns whether it ended with success.
    pub(crate) fn stop(mut self) -> bool {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap().success()
    }
}

impl Drop for RunningService {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An experiment with many lanes.
pub(crate) fn many_lanes() -> Value {
    json!({
        "arms": ["ann", "bob", "cem"],
        "policy": {"kind": "calibrated", "memory_bound": 3},
        "seed": 5,
        "lanes": {"mode": "many"},
        "feedback": {"on_timeout": "lost", "timeout_seconds": 3600},
    })
}
