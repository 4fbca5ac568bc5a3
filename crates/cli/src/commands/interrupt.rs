//! Ctrl-C: the first one ends in order, a second one at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

static STOP: AtomicBool = AtomicBool::new(false);

/// Set when the user interrupts the program, from the first call on.
pub(crate) fn on_interrupt() -> Result<&'static AtomicBool, Failure> {
    static HANDLED: OnceLock<Result<(), String>> = OnceLock::new();
    let handled = HANDLED.get_or_init(|| {
        let handler = ctrlc::set_handler(|| {
            if STOP.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
        handler.map_err(|error| error.to_string())
    });
    handled.clone().map_err(|error| Failure::new(format!("Ctrl-C can't be handled: {error}")))?;
    Ok(&STOP)
}
