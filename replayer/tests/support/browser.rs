//! Chromium without a window, driven over the pipe of its DevTools protocol (chromedevtools.github.io/devtools-protocol):
//! messages of JSON, each ended by a zero byte.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A browser with one page.
pub struct Browser {
    process: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    sent: u64,
    session: Option<String>,
    /// What the page has complained about.
    pub complaints: Vec<String>,
    _profile: tempfile::TempDir,
}

/// How long an answer may take, on a machine that does other work.
const PATIENCE: Duration = Duration::from_secs(120);

impl Browser {
    /// Opens a page; `None` if there is no Chromium.
    pub fn open(page: &Path) -> Option<Self> {
        Self::open_after(page, None)
    }

    /// Opens a page in which a script has run before those of the page, whose coverage is then counted; `None` where there is
    /// no Chromium.
    pub fn open_after(page: &Path, script: Option<&str>) -> Option<Self> {
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let paths = std::env::var_os("PATH")?;
        let found = std::env::split_paths(&paths)
            .flat_map(|folder| names.map(|name| folder.join(name)))
            .find(|path| path.is_file())?;
        let profile = tempfile::tempdir().unwrap();
        // The protocol speaks on descriptors 3 and 4.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"]).arg(found);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"]);
        command.args(["--disable-dev-shm-usage", "--force-device-scale-factor=1", "--window-size=1280,900"]);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                message.pop();
                if sender.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let complaints = Vec::new();
        let mut browser = Self { process, input, messages, sent: 0, session: None, complaints, _profile: profile };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let target = target["targetId"].as_str().unwrap();
        let session = browser.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        browser.session = Some(session["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Runtime", "Log", "Page"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        if let Some(script) = script {
            browser.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": script}));
            browser.call("Profiler.enable", json!({}));
            browser.call("Profiler.startPreciseCoverage", json!({"callCount": true, "detailed": true}));
        }
        browser.call("Page.navigate", json!({"url": format!("file://{}", page.display())}));
        browser.wait_for("document.documentElement?.dataset.ready === 'yes'");
        Some(browser)
    }

    /// Calls a method of the protocol, and returns its result.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.sent += 1;
        let mut message = json!({"id": self.sent, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.input.write_all(message.to_string().as_bytes()).unwrap();
        self.input.write_all(b"\0").unwrap();
        self.input.flush().unwrap();
        loop {
            let message = self.messages.recv_timeout(PATIENCE).unwrap();
            if message["id"] == self.sent {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            let said = &message["params"];
            match message["method"].as_str() {
                Some("Runtime.exceptionThrown") => self.complaints.push(said["exceptionDetails"].to_string()),
                Some("Log.entryAdded") => self.complaints.push(said["entry"].to_string()),
                Some("Runtime.consoleAPICalled") => self.complaints.push(said["args"].to_string()),
                _ => {}
            }
        }
    }

    /// The value of an expression of the page's language, awaited.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let result = self.call("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub fn wait_for(&mut self, condition: &str) {
        let start = Instant::now();
        while self.evaluate(condition) != true {
            let failure = self.evaluate("document.getElementById('failure')?.textContent ?? document.body?.innerText");
            assert!(start.elapsed() < PATIENCE, "{condition} does not come true: {failure} {:?}", self.complaints);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        let code = match key {
            "Tab" => 9,
            _ => 0,
        };
        for kind in ["keyDown", "keyUp"] {
            let mut parameters = json!({"type": kind, "key": key, "windowsVirtualKeyCode": code});
            if kind == "keyDown" && !text.is_empty() {
                parameters["text"] = text.into();
            }
            self.call("Input.dispatchKeyEvent", parameters);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
