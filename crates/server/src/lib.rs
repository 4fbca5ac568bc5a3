//! The review of a run as local web pages: a queue, one case on one screen, a decision by one key.
//!
//! ```text
//! request ──access──▶ route ──desk──▶ Sheet ──pages──▶ HTML
//! ```
//!
//! Invariants:
//! - It listens on the loopback interface alone. Pages need a session, a session needs the token of the address that the
//!   program prints, and what changes something needs a mark that only its own pages know.
//! - Every text of a case is escaped by the template engine; no script or style comes from outside or stands in a page.
//! - A decision goes through [`hindcast_review::ReviewBook`]; pages hold no state but the reader's language and colours.
//!
//! Start reading at [`Desk`], then `routes.rs`.

mod access;
mod desk;
mod filter;
mod pages;
mod routes;
mod timeline;
mod words;

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use access::Keys;
pub use desk::Desk;

/// A server that has its port and waits to be run.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    desk: Arc<Desk>,
    keys: Keys,
}

impl Server {
    /// A server for a desk on this port of the loopback interface; 0 is any free one.
    ///
    /// # Errors
    /// When the port is taken, or the system gives no random bytes.
    pub fn bind(desk: Desk, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, desk: Arc::new(desk), keys: Keys::new(port)? })
    }

    /// The address to open. Its token stands behind `#`, so that no log or referrer ever holds it.
    ///
    /// # Errors
    /// When the system doesn't tell the port.
    pub fn address(&self) -> io::Result<String> {
        let port = self.listener.local_addr()?.port();
        Ok(format!("http://127.0.0.1:{port}/#{}", self.keys.token()))
    }

    /// Serves until the user interrupts the program.
    ///
    /// # Errors
    /// When the system takes the port away.
    pub fn run(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let app = routes::app(self.desk, Arc::new(self.keys));
            tokio::select! {
                served = axum::serve(listener, app) => served,
                interrupted = tokio::signal::ctrl_c() => interrupted,
            }
        })
    }
}
