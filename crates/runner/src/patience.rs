//! How an agent is asked: at its pace, and again where that can help.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::command::Tried;
use crate::settings::Settings;
use crate::source::Source;

/// How often and how fast an agent is asked, from any number of threads.
#[derive(Debug)]
pub(crate) struct Patience {
    /// Further tries after a failure that may pass.
    retries: u32,
    /// The wait before the first of them; each further one is twice as long.
    first_wait: Duration,
    /// Between two questions.
    every: Duration,
    next: Mutex<Instant>,
}

/// A question that was asked until it was answered, or failed for good.
pub(crate) struct Attempted {
    pub(crate) tried: Tried,
    /// How often.
    pub(crate) attempts: u32,
    /// Wall-clock time of the last try.
    pub(crate) time: Duration,
}

impl Patience {
    /// `per_minute` questions at most are begun in a minute; none is no limit.
    pub(crate) fn new(source: &Source, settings: &Settings, per_minute: Option<u32>) -> Self {
        // Services are asked again by their client.
        let retries = if matches!(source, Source::Service(..)) { 0 } else { settings.retries };
        let every = per_minute.filter(|count| *count > 0).map(|count| Duration::from_mins(1) / count);
        let (first_wait, every, next) = (settings.first_wait, every.unwrap_or_default(), Mutex::new(Instant::now()));
        Self { retries, first_wait, every, next }
    }

    /// Asks until it works, fails for good, or was tried often enough. Waits spread by `seed`. None when the user stopped it.
    pub(crate) fn ask(
        &self,
        seed: u64,
        stop: &AtomicBool,
        once: impl Fn() -> io::Result<Tried>,
    ) -> io::Result<Option<Attempted>> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut wait = self.first_wait;
        let mut attempts = 1;
        loop {
            if is_stopped_within(self.turn(), stop) {
                return Ok(None);
            }
            let began = Instant::now();
            let tried = once()?;
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let is_transient = tried.failure.as_ref().is_some_and(|failure| failure.is_transient);
            if !is_transient || attempts > self.retries {
                return Ok(Some(Attempted { tried, attempts, time: began.elapsed() }));
            }
            if is_stopped_within(wait.mul_f64(0.5 + random.f64()), stop) {
                return Ok(None);
            }
            wait *= 2;
            attempts += 1;
        }
    }

    /// How long to wait for its turn.
    fn turn(&self) -> Duration {
        let mut next = self.next.lock().expect("no holder panics");
        let now = Instant::now();
        let at = (*next).max(now);
        *next = at + self.every;
        at - now
    }
}

/// Waits, unless the user stops it; true when they did.
fn is_stopped_within(time: Duration, stop: &AtomicBool) -> bool {
    let until = Instant::now() + time;
    loop {
        if stop.load(Ordering::Relaxed) {
            return true;
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        std::thread::sleep(left.min(Duration::from_millis(50)));
    }
}
