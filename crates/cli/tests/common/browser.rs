//! A real browser, driven over WebDriver.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fantoccini::actions::{InputSource, KeyAction, KeyActions};
use fantoccini::{Client, ClientBuilder, Locator};
use serde_json::{Value, json};

/// How long a page may take until a test gives up.
const PATIENCE: Duration = Duration::from_secs(20);

/// Chromium with one window.
pub(crate) struct Browser {
    driver: Child,
    runtime: tokio::runtime::Runtime,
    pub(crate) client: Client,
}

impl Browser {
    /// Starts the browser that `scripts/test` installs, with a window of this size.
    pub(crate) fn start(width: u32, height: u32) -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver; scripts/test installs it (apt-get install chromium-driver)");
        let told = BufReader::new(driver.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        let port = told
            .filter_map(|line| {
                line.strip_suffix('.')?.rsplit_once("successfully on port ").map(|(_, port)| port.to_owned())
            })
            .next()
            .expect("chromedriver tells its port");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let size = format!("--window-size={width},{height}");
        let options = json!({
            "goog:chromeOptions": {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en", size]},
            "unhandledPromptBehavior": "ignore",
        });
        let Value::Object(options) = options else { unreachable!("it is an object") };
        let address = format!("http://127.0.0.1:{port}");
        let client = runtime
            .block_on(
                ClientBuilder::new(hyper_util::client::legacy::connect::HttpConnector::new())
                    .capabilities(options)
                    .connect(&address),
            )
            .expect("Chromium starts");
        Self { driver, runtime, client }
    }

    pub(crate) fn open(&self, address: &str) {
        self.runtime.block_on(self.client.goto(address)).expect("the page opens");
    }

    /// What a script gives back.
    pub(crate) fn script(&self, script: &str) -> Value {
        self.runtime.block_on(self.client.execute(script, Vec::new())).expect("the script runs")
    }

    /// What an expression gives.
    pub(crate) fn value(&self, expression: &str) -> Value {
        self.script(&format!("return {expression}"))
    }

    /// Waits until an expression holds.
    pub(crate) fn until(&self, expression: &str) {
        let deadline = std::time::Instant::now() + PATIENCE;
        while self.value(&format!("document.readyState === 'complete' && !!({expression})")) != json!(true) {
            assert!(std::time::Instant::now() < deadline, "{expression} never held on\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses keys one after the other, wherever the focus is.
    pub(crate) fn press(&self, keys: &str) {
        let mut actions = KeyActions::new("keys".to_owned());
        for value in keys.chars() {
            actions = actions.then(KeyAction::Down { value }).then(KeyAction::Up { value });
        }
        self.runtime.block_on(self.client.perform_actions(actions)).expect("keys are pressed");
    }

    /// Presses a key while another one is held.
    pub(crate) fn press_with(&self, held: char, value: char) {
        let actions = KeyActions::new("keys".to_owned())
            .then(KeyAction::Down { value: held })
            .then(KeyAction::Down { value })
            .then(KeyAction::Up { value })
            .then(KeyAction::Up { value: held });
        self.runtime.block_on(self.client.perform_actions(actions)).expect("keys are pressed");
    }

    pub(crate) fn click(&self, selector: &str) {
        self.script(&format!("document.querySelector({}).scrollIntoView({{block: 'center'}})", json!(selector)));
        let find = async { self.client.find(Locator::Css(selector)).await?.click().await };
        self.runtime.block_on(find).unwrap_or_else(|error| panic!("{selector}: {error}"));
    }

    /// Opens another tab and goes there.
    pub(crate) fn new_tab(&self) -> fantoccini::wd::WindowHandle {
        let tab = async {
            let before = self.client.window().await?;
            let tab = self.client.new_window(true).await?;
            self.client.switch_to_window(tab.handle).await?;
            Ok::<_, fantoccini::error::CmdError>(before)
        };
        self.runtime.block_on(tab).expect("a tab")
    }

    pub(crate) fn switch(&self, tab: fantoccini::wd::WindowHandle) {
        self.runtime.block_on(self.client.switch_to_window(tab)).expect("the tab is there");
    }

    /// The text of the page.
    pub(crate) fn text(&self) -> String {
        self.value("document.body.innerText").as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn place(&self) -> String {
        self.value("location.pathname + location.search + location.hash").as_str().unwrap_or_default().to_owned()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.runtime.block_on(self.client.clone().close());
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
