//! Who may ask: the session, and the mark that a change must carry.
//!
//! The address that the program prints holds a token behind `#`, which browsers send nowhere. The first page's script posts it
//! once and gets a session cookie for it. Forms carry a mark besides, so that another site's page can't make the reader's browser
//! decide something; and requests to any name but the loopback's are refused, so that no site can point its own name here.

use std::io;

use axum::http::{HeaderMap, header};
use sha2::{Digest, Sha256};

/// The secrets of one server; they end with it.
#[derive(Debug)]
pub(crate) struct Keys {
    token: String,
    session: String,
    mark: String,
    /// Cookies know no ports: two servers on one machine need two names.
    cookie: String,
}

impl Keys {
    pub(crate) fn new(port: u16) -> io::Result<Self> {
        Ok(Self { token: secret()?, session: secret()?, mark: secret()?, cookie: format!("hindcast_session_{port}") })
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// What forms carry.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// Whether the request comes from a page of this server's session.
    pub(crate) fn has_session(&self, headers: &HeaderMap) -> bool {
        cookie(headers, &self.cookie).is_some_and(|value| is_same(value, &self.session))
    }

    pub(crate) fn is_token(&self, text: &str) -> bool {
        is_same(text, &self.token)
    }

    pub(crate) fn is_mark(&self, text: &str) -> bool {
        is_same(text, &self.mark)
    }

    /// The header that gives a browser the session.
    pub(crate) fn session_cookie(&self) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie, self.session)
    }
}

/// The value of a cookie.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(';')).find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

/// Whether the request is addressed to the loopback interface by one of its own names.
pub(crate) fn is_local(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    };
    matches!(name, "127.0.0.1" | "localhost" | "[::1]")
}

/// Whether a request that changes something comes from a page of the same server, as far as the browser tells.
pub(crate) fn is_same_origin(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &axum::http::HeaderValue| value.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    let origin_fits = text(header::ORIGIN).is_none_or(|origin| origin.strip_prefix("http://") == Some(host));
    let site = headers.get("sec-fetch-site").and_then(|value| value.to_str().ok());
    origin_fits && site.is_none_or(|site| matches!(site, "same-origin" | "none"))
}

fn secret() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Equality that takes as long for a near miss as for a far one.
fn is_same(one: &str, other: &str) -> bool {
    Sha256::digest(one) == Sha256::digest(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value"))).collect()
    }

    #[test]
    fn only_the_loopbacks_own_names_are_local() {
        for (host, local) in [
            ("127.0.0.1:4000", true),
            ("localhost", true),
            ("[::1]:80", true),
            ("evil.example:4000", false),
            ("127.0.0.1.evil.example", false),
            ("", false),
        ] {
            assert_eq!(is_local(&headers(&[("host", host)])), local, "{host}");
        }
    }

    #[test]
    fn another_sites_page_can_not_change_anything() {
        let of = |origin, site| {
            is_same_origin(&headers(&[("host", "127.0.0.1:1"), ("origin", origin), ("sec-fetch-site", site)]))
        };
        assert!(of("http://127.0.0.1:1", "same-origin"));
        assert!(!of("https://evil.example", "cross-site"));
        assert!(!of("http://127.0.0.1:2", "same-site"), "another server of this machine");
        assert!(!of("null", "cross-site"));
    }

    #[test]
    fn a_session_is_known_among_other_cookies() {
        let keys = Keys::new(7).expect("random bytes");
        let cookie = keys.session_cookie();
        let own = cookie.split(';').next().expect("a pair");
        assert!(keys.has_session(&headers(&[("cookie", &format!("a=b; {own}; c=d"))])));
        assert!(!keys.has_session(&headers(&[("cookie", "hindcast_session_7=guess")])));
        assert!(!keys.has_session(&HeaderMap::new()));
    }
}
