//! Many replays at once, within a budget.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What is over when a schedule ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Every job is done.
    Done,
    /// The budget is used up; jobs are left.
    Budget,
    /// The user stopped it; jobs are left.
    Stopped,
}

/// Does `count` jobs on `workers` threads. `work` does the job of an index and gives its cost in US dollars; none when the
/// user stopped it. Jobs in flight when the budget runs out are finished.
///
/// # Errors
/// The first error of a job; the others in flight are finished.
pub fn schedule(
    count: usize,
    workers: usize,
    max_cost: Option<f64>,
    stop: &AtomicBool,
    work: impl Fn(usize) -> io::Result<Option<f64>> + Sync,
) -> io::Result<End> {
    let next = AtomicUsize::new(0);
    let spent = Mutex::new(0.0_f64);
    let failed: Mutex<Option<io::Error>> = Mutex::new(None);
    let is_broke = || max_cost.is_some_and(|most| *spent.lock().expect("no holder panics") >= most);
    let has_failed = || failed.lock().expect("no holder panics").is_some();
    std::thread::scope(|scope| {
        for _ in 0..workers.clamp(1, count.max(1)) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) && !is_broke() && !has_failed() {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    match work(index) {
                        Ok(Some(cost)) => *spent.lock().expect("no holder panics") += cost,
                        Ok(None) => break,
                        Err(error) => *failed.lock().expect("no holder panics") = Some(error),
                    }
                }
            });
        }
    });
    if let Some(error) = failed.into_inner().expect("no holder panics") {
        return Err(error);
    }
    let is_done = next.load(Ordering::Relaxed) >= count && !stop.load(Ordering::Relaxed);
    Ok(if stop.load(Ordering::Relaxed) {
        End::Stopped
    } else if is_done {
        End::Done
    } else {
        End::Budget
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends_what_is_not_begun() {
        let done = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let work = |_| {
            done.fetch_add(1, Ordering::Relaxed);
            Ok(Some(0.25))
        };
        assert_eq!(schedule(100, 1, Some(1.0), &stop, work).expect("no error"), End::Budget);
        assert_eq!(done.load(Ordering::Relaxed), 4);
        assert_eq!(schedule(3, 8, None, &stop, work).expect("no error"), End::Done);
        stop.store(true, Ordering::Relaxed);
        assert_eq!(schedule(3, 2, None, &stop, work).expect("no error"), End::Stopped);
    }
}
