//! A small client for Chromium: the DevTools protocol over the pipe of the browser, without a port or a driver.
#![allow(dead_code, reason = "each test uses a part of the client")]

use calibandit_report::report::Report;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// The time limit of a single answer, with a wide margin for shared machines.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The path of the browser, from the variable `CALIBANDIT_CHROMIUM` or the search path.
fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CALIBANDIT_CHROMIUM").filter(|name| !name.is_empty()) {
        return Some(PathBuf::from(named)).filter(|file| file.is_file());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name))).find(|file| file.is_file())
}

/// One browser with one page.
pub(crate) struct Browser {
    process: Child,
    pipe: ChildStdin,
    messages: Receiver<Value>,
    profile: PathBuf,
    session: String,
    next: u64,
    /// The events that the browser sent.
    pub(crate) events: Vec<Value>,
}

impl Browser {
    /// Starts a browser. Panics if none is installed: tests that call this are ignored because they need Chromium.
    pub(crate) fn start() -> Self {
        let program = find().expect("Chromium must be installed, or CALIBANDIT_CHROMIUM set to its path");
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("calibandit-browser-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let profile = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&profile).unwrap();
        // The browser reads commands from file descriptor 3 and answers on 4; the shell connects them to our ends.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"])
            .arg(program)
            .args([
                "--headless",
                "--remote-debugging-pipe",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-dev-shm-usage",
            ])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let pipe = process.stdin.take().unwrap();
        let mut answers = BufReader::new(process.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            while answers.read_until(0, &mut bytes).is_ok_and(|read| read > 0) {
                bytes.pop();
                let message = serde_json::from_slice(&bytes).unwrap();
                bytes.clear();
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut browser =
            Browser { process, pipe, messages, profile, session: String::new(), next: 0, events: Vec::new() };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = browser.call("Target.attachToTarget", json!({"targetId": target["targetId"], "flatten": true}));
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Sends a command and waits for its answer.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.pipe.write_all(format!("{message}\0").as_bytes()).unwrap();
        self.pipe.flush().unwrap();
        loop {
            let message = self.receive(method);
            if message["id"] == json!(id) {
                assert!(message.get("error").is_none(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
        }
    }

    fn receive(&mut self, waiting_for: &str) -> Value {
        let message = self.messages.recv_timeout(TIME_LIMIT).unwrap_or_else(|_| panic!("no answer to {waiting_for}"));
        if message.get("method").is_some() {
            self.events.push(message.clone());
        }
        message
    }

    /// Sets the size of the screen.
    pub(crate) fn screen(&mut self, width: u32, height: u32) {
        let params = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500});
        self.call("Emulation.setDeviceMetricsOverride", params);
    }

    /// Opens a page and waits until it is loaded.
    pub(crate) fn open(&mut self, url: &str) {
        let before = self.events.len();
        self.call("Page.navigate", json!({"url": url}));
        while !self.events[before..].iter().any(|event| event["method"] == "Page.loadEventFired") {
            self.receive("Page.loadEventFired");
        }
    }

    /// The value of an expression of JavaScript.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", params);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let start = Instant::now();
        while self.eval(expression) != json!(true) {
            assert!(start.elapsed() < TIME_LIMIT, "never true: {expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The centre of an element (of its first line), after scrolling to it.
    pub(crate) fn place(&mut self, selector: &str) -> (f64, f64) {
        let quoted = json!(selector);
        let script = format!(
            "(() => {{ const e = document.querySelector({quoted}); \
             e.scrollIntoView({{block: 'center', behavior: 'instant'}}); \
             const b = e.getClientRects()[0]; return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
        );
        let place = self.eval(&script);
        (place[0].as_f64().unwrap(), place[1].as_f64().unwrap())
    }

    /// Moves the mouse.
    pub(crate) fn point(&mut self, (x, y): (f64, f64)) {
        self.call("Input.dispatchMouseEvent", json!({"type": "mouseMoved", "x": x, "y": y}));
    }

    /// Presses or releases the mouse button (`kind`), as the nth click of a series.
    fn mouse(&mut self, kind: &str, (x, y): (f64, f64), nth: u32) {
        let params = json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": nth});
        self.call("Input.dispatchMouseEvent", params);
    }

    /// Clicks on an element with the mouse.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.place(selector);
        self.mouse("mousePressed", place, 1);
        self.mouse("mouseReleased", place, 1);
    }

    /// Clicks on a place twice, as a double click.
    pub(crate) fn double_click(&mut self, place: (f64, f64)) {
        self.point(place);
        for nth in [1, 2] {
            self.mouse("mousePressed", place, nth);
            self.mouse("mouseReleased", place, nth);
        }
    }

    /// Drags the mouse from one place to another.
    pub(crate) fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.point(from);
        self.mouse("mousePressed", from, 1);
        for step in 1..=8 {
            let share = f64::from(step) / 8.0;
            let (x, y) = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            self.call("Input.dispatchMouseEvent", json!({"type": "mouseMoved", "x": x, "y": y, "buttons": 1}));
        }
        self.mouse("mouseReleased", to, 1);
    }

    /// Saves downloads in a folder.
    pub(crate) fn save_downloads(&mut self, folder: &Path) {
        let params = json!({"behavior": "allow", "downloadPath": folder});
        self.call("Browser.setDownloadBehavior", params);
    }

    /// The bytes of a downloaded file, once it is complete.
    pub(crate) fn downloaded(&mut self, file: &Path) -> Vec<u8> {
        let start = Instant::now();
        loop {
            // The browser writes to another name and renames the file in the end.
            if let Some(bytes) = std::fs::read(file).ok().filter(|bytes| !bytes.is_empty()) {
                return bytes;
            }
            assert!(start.elapsed() < TIME_LIMIT, "no download {}", file.display());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses a key that does not type a character.
    pub(crate) fn press(&mut self, key: &str) {
        for kind in ["rawKeyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({"type": kind, "key": key, "code": key}));
        }
    }

    /// The parameters of all events of one kind.
    pub(crate) fn events_of(&self, method: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["method"] == method).map(|event| &event["params"]).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The process may have ended already, so errors are ignored.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// A page in a temporary folder.
pub(crate) struct PageFile {
    /// The folder.
    pub(crate) folder: PathBuf,
    /// Its address.
    pub(crate) url: String,
}

impl PageFile {
    pub(crate) fn new(name: &str, html: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("calibandit-page-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("report.html");
        std::fs::write(&file, html).unwrap();
        PageFile { url: address(&file), folder }
    }
}

fn address(file: &Path) -> String {
    format!("file://{}", file.display())
}

impl Drop for PageFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A browser that shows the report, with its first figure drawn.
pub(crate) fn opened(name: &str, report: &Report) -> (Browser, PageFile) {
    let mut browser = Browser::start();
    let page = PageFile::new(name, &report.to_html());
    browser.screen(1280, 900);
    browser.open(&page.url);
    browser.wait_for("document.querySelector('.plot .js-line') !== null");
    (browser, page)
}

/// Fails if the page logged an error or requested anything but itself.
pub(crate) fn assert_no_errors_and_requests(browser: &Browser, page: &PageFile) {
    let thrown = browser.events_of("Runtime.exceptionThrown");
    assert!(thrown.is_empty(), "{thrown:?}");
    let logged = browser.events_of("Log.entryAdded");
    assert!(logged.is_empty(), "{logged:?}");
    let console = browser.events_of("Runtime.consoleAPICalled");
    assert!(console.is_empty(), "{console:?}");
    let requests = browser.events_of("Network.requestWillBeSent");
    let asked: Vec<&str> = requests.iter().map(|event| event["request"]["url"].as_str().unwrap()).collect();
    // `data:` and `blob:` are in the memory of the browser.
    let inside = ["data:", "blob:", "about:"];
    let outside = |url: &&&str| **url != page.url && !inside.iter().any(|scheme| url.starts_with(scheme));
    let outside = asked.iter().filter(outside).collect::<Vec<_>>();
    assert!(outside.is_empty(), "{outside:?}");
    assert!(asked.contains(&page.url.as_str()), "the request of the page itself is recorded, so others would be, too");
}
