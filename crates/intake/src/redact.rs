//! Secrets and names become placeholders before anything is written.
//!
//! The same value becomes the same placeholder within one case; the map is dropped with the redactor.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use hindcast_case::{Case, Link};
use regex::{Captures, Regex};

/// What a pattern finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Kind {
    Secret,
    Email,
    Phone,
    Ip,
    Name,
    Instance(&'static str),
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Ip => "ip",
            Self::Name => "name",
            Self::Instance(component) => component,
        }
    }
}

/// A shape of something secret.
struct Rule {
    kind: Kind,
    /// What a text must hold, in any case, for the pattern to be tried; empty for always.
    needles: &'static [&'static str],
    /// What is replaced: the group `v`, or without one the whole match.
    pattern: Regex,
}

/// The rules in the order in which they are applied. Token shapes are those that the services document: GitHub, GitLab,
/// Slack, Atlassian, AWS, Google, OpenAI, Anthropic, Grafana, npm, Alibaba Cloud, JSON Web Tokens.
static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rules: [(Kind, &[&str], &str); 14] = [
        (
            Kind::Secret,
            &["-----begin"],
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
        ),
        (
            Kind::Secret,
            &[
                "ghp_",
                "gho_",
                "ghu_",
                "ghs_",
                "ghr_",
                "github_pat_",
                "glpat-",
                "xox",
                "atatt",
                "akia",
                "asia",
                "aiza",
                "sk-",
                "glsa_",
                "glc_",
                "npm_",
                "ltai",
            ],
            // Distinct enough to be found in the middle of a word; `sk-` also ends words like disk-.
            r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abprs]-[A-Za-z0-9-]{10,}|ATATT[A-Za-z0-9_=-]{20,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}|\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}|gl(?:sa|c)_[A-Za-z0-9_=]{20,}|npm_[A-Za-z0-9]{30,}|LTAI[A-Za-z0-9]{12,})",
        ),
        (Kind::Secret, &["eyj"], r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
        // user:password@host in any address of a service.
        (Kind::Secret, &["://"], r#"://[^\s/:@"']*:(?P<v>[^\s/@"']+)@"#),
        // Go's DSN: user:password@tcp(host:4000)/db.
        (Kind::Secret, &["@tcp(", "@unix("], r"[A-Za-z0-9_.-]+:(?P<v>[^\s:@/]+)@(?:tcp|unix)\("),
        (
            Kind::Secret,
            &["authorization", "api-key", "auth-token", "private-token", "cookie"],
            r"(?i)\b(?:authorization|proxy-authorization|x-api-key|x-auth-token|private-token|cookie|set-cookie)\s*:\s*(?:basic\s+|bearer\s+|token\s+)?(?P<v>[^\r\n'`]{4,})",
        ),
        (Kind::Secret, &["bearer"], r"(?i)\bbearer\s+(?P<v>[A-Za-z0-9._~+/=-]{12,})"),
        (
            Kind::Secret,
            &["passw", "pwd", "secret", "key", "token", "signature", "session"],
            r#"(?i)(?:\b|_)(?:password|passwd|pwd|secret|access[_-]?key(?:[_-]?id)?|secret[_-]?key|api[_-]?key|apikey|auth[_-]?token|access[_-]?token|refresh[_-]?token|id[_-]?token|private[_-]?token|token|signature|x-amz-signature|sessionid|session[_-]?id|jsessionid|cloud\.session\.token)["']?\s*[=:：]\s*["']?(?P<v>[^\s"'&;,，。)\]}<]{4,})"#,
        ),
        (
            Kind::Secret,
            &["密码", "口令", "密钥", "令牌"],
            r"(?:密码|口令|密钥|令牌)\s*(?:是|为|[:：=])\s*(?P<v>[^\s,，。;；]{4,})",
        ),
        // mysql -h host -u root -psecret
        (Kind::Secret, &["mysql"], r"\bmysql\b[^\r\n|;]*?\s-p(?P<v>[^\s\-'][^\s']{2,})"),
        (Kind::Email, &["@"], r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}\b"),
        // Chinese mobile numbers, and international ones with their plus sign.
        (
            Kind::Phone,
            &[],
            r"(?:^|[^A-Za-z0-9_.:/-])(?P<v>(?:\+?86[ -]?)?1[3-9][0-9][ -]?[0-9]{4}[ -]?[0-9]{4})(?:$|[^A-Za-z0-9_.:/-])",
        ),
        (
            Kind::Phone,
            &["+"],
            r"(?:^|[^A-Za-z0-9_.:/+-])(?P<v>\+[1-9][0-9]{0,2}[ -]?(?:\([0-9]{1,4}\)[ -]?)?[0-9]{2,4}(?:[ -][0-9]{2,4}){1,4})\b",
        ),
        (
            Kind::Phone,
            &["电话", "手机", "tel", "phone", "mobile"],
            r"(?i)(?:电话|手机|\btel|\bphone|\bmobile)\s*[:：]?\s*(?P<v>\(?0?[0-9]{2,4}\)?[ -]?[0-9]{3,4}[ -]?[0-9]{3,4})\b",
        ),
    ];
    rules.into_iter().map(|(kind, needles, pattern)| Rule { kind, needles, pattern: compile(pattern) }).collect()
});

/// Finds which rules' needles a text holds, in one pass; each needle knows its rule.
static NEEDLES: LazyLock<(AhoCorasick, Vec<usize>)> = LazyLock::new(|| {
    let needles =
        RULES.iter().enumerate().flat_map(|(rule, one)| one.needles.iter().map(move |needle| (*needle, rule)));
    let (needles, rules): (Vec<&str>, Vec<usize>) = needles.unzip();
    (AhoCorasick::builder().ascii_case_insensitive(true).build(needles).expect("a few short needles"), rules)
});

static IPV4: LazyLock<Regex> = LazyLock::new(|| compile(r"\b(?P<v>[0-9]{1,3}(?:\.[0-9]{1,3}){3})\b"));
static IPV6: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"(?:^|[^A-Za-z0-9_:.])(?P<v>[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{0,4}){2,7})(?:$|[^A-Za-z0-9_:.])")
});
static INSTANCE: LazyLock<Regex> =
    LazyLock::new(|| compile(r"\b(?P<v>[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?P<port>:[0-9]{2,5})?)\b"));

fn compile(pattern: &str) -> Regex {
    Regex::new(&hindcast_text::ascii_boundaries(pattern)).expect("the tests compile the patterns")
}

/// Whether instances and people keep their names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Naming {
    /// Instances keep their private addresses, and engineers their names.
    #[default]
    Kept,
    /// Instances become `<tikv-1>`, engineers `<person-1>`.
    Anonymised,
}

/// Replaces secrets in the texts of one case.
pub(crate) struct Redactor<'a> {
    names: &'a Names,
    naming: Naming,
    known: HashMap<(&'static str, String), String>,
    counts: HashMap<&'static str, usize>,
}

/// Names that are replaced wherever they stand.
#[derive(Debug)]
pub(crate) struct Names(Option<AhoCorasick>);

impl Names {
    pub(crate) fn new(names: &[String]) -> Self {
        let names: Vec<&String> = names.iter().filter(|name| !name.trim().is_empty()).collect();
        let finder =
            AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).ascii_case_insensitive(true).build(names);
        Self(finder.ok().filter(|finder| finder.patterns_len() > 0))
    }
}

impl<'a> Redactor<'a> {
    pub(crate) fn new(names: &'a Names, naming: Naming) -> Self {
        Self { names, naming, known: HashMap::new(), counts: HashMap::new() }
    }

    /// Replaces what must not be written, in every text of the case that the import fills.
    pub(crate) fn case(&mut self, case: &mut Case) {
        let incident = &mut case.canonical_incident;
        // The symptom begins with title and description, unless they were edited.
        let opening = format!("{}\n\n{}", incident.title, incident.description_text);
        for text in [&mut incident.title, &mut incident.description_text] {
            *text = self.text(text);
        }
        case.initial_symptom = match case.initial_symptom.strip_prefix(&opening) {
            Some(rest) => format!("{}\n\n{}{}", incident.title, incident.description_text, self.text(rest)),
            None => self.text(&case.initial_symptom),
        };
        for Link(address) in incident.clinic_links.iter_mut().chain(&mut incident.grafana_links) {
            *address = self.text(address);
        }
        for person in [&mut incident.l2_assignee, &mut incident.assignee_or_l3] {
            *person = match self.naming {
                Naming::Anonymised if !person.is_empty() => self.placeholder("person", person),
                _ => self.text(person),
            };
        }
        let human = &mut case.final_human_conclusion;
        human.owner_final_comment = self.text(&human.owner_final_comment);
        for reference in &mut human.evidence_references {
            *reference = self.text(reference);
        }
        for window in &mut human.analysis_windows {
            window.summary = self.text(&window.summary);
            for line in &mut window.evidence {
                *line = self.text(line);
            }
        }
        case.replay_inputs.notes = self.text(&case.replay_inputs.notes);
    }

    /// The text with placeholders.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        let (needles, owners) = &*NEEDLES;
        let mut wanted: Vec<bool> = RULES.iter().map(|rule| rule.needles.is_empty()).collect();
        for found in needles.find_overlapping_iter(&text) {
            wanted[owners[found.pattern().as_usize()]] = true;
        }
        for (rule, _) in RULES.iter().zip(wanted).filter(|(_, wanted)| *wanted) {
            text = self.replace(text, &rule.pattern, |_| Some(rule.kind));
        }
        if self.naming == Naming::Anonymised {
            text = self.replace(text, &INSTANCE, instance);
        }
        text = self.replace(text, &IPV4, |found| public_ipv4(found).then_some(Kind::Ip));
        text = self.replace(text, &IPV6, |found| public_ipv6(&found["v"]).then_some(Kind::Ip));
        if let Some(finder) = &self.names.0 {
            let mut shown = String::with_capacity(text.len());
            let source = text;
            finder.replace_all_with(&source, &mut shown, |_, name, shown| {
                shown.push_str(&self.placeholder(Kind::Name.word(), &name.to_lowercase()));
                true
            });
            text = shown;
        }
        text
    }

    fn replace(&mut self, text: String, pattern: &Regex, kind: impl Fn(&Captures<'_>) -> Option<Kind>) -> String {
        let mut shown = String::new();
        let mut at = 0;
        let mut from = 0;
        while let Some(found) = pattern.captures_at(&text, from) {
            let whole = found.get(0).expect("the whole match");
            let value = found.name("v").unwrap_or(whole);
            // What stands behind a value can stand before the next one.
            from = value.end().max(whole.start() + 1);
            while !text.is_char_boundary(from) {
                from += 1;
            }
            let Some(kind) = kind(&found).filter(|_| !value.as_str().starts_with('<') && value.start() >= at) else {
                continue;
            };
            shown.push_str(&text[at..value.start()]);
            shown.push_str(&self.placeholder(kind.word(), value.as_str()));
            at = value.end();
        }
        if at == 0 {
            return text;
        }
        shown.push_str(&text[at..]);
        shown
    }

    fn placeholder(&mut self, word: &'static str, value: &str) -> String {
        let key = (word, value.trim().to_owned());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let count = self.counts.entry(word).or_default();
        *count += 1;
        let placeholder = format!("<{word}-{count}>");
        self.known.insert(key, placeholder.clone());
        placeholder
    }
}

/// Whether the match is a public address: not a private one, which names an instance, and not a version.
fn public_ipv4(found: &Captures<'_>) -> bool {
    let value = found.name("v").expect("the pattern has the group");
    let Ok(IpAddr::V4(address)) = value.as_str().parse::<IpAddr>() else { return false };
    let shared = address.octets()[0] == 100 && (64..128).contains(&address.octets()[1]);
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_unspecified()
        || address.is_broadcast()
        || address.is_multicast()
        || address.octets()[0] == 0
        || shared)
}

fn public_ipv6(text: &str) -> bool {
    let Ok(address) = text.parse::<Ipv6Addr>() else { return false };
    // Global unicast addresses are 2000::/3.
    address.segments()[0] & 0xe000 == 0x2000
}

/// The component behind an address, by its usual port.
fn instance(found: &Captures<'_>) -> Option<Kind> {
    let host = found["v"].split(':').next().unwrap_or_default();
    host.parse::<IpAddr>().ok()?;
    let component = match found.name("port").map_or("", |port| port.as_str()) {
        ":20160" | ":20180" => "tikv",
        ":4000" | ":10080" => "tidb",
        ":2379" | ":2380" => "pd",
        ":3930" | ":8123" | ":9000" => "tiflash",
        _ => "host",
    };
    Some(Kind::Instance(component))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn redact(text: &str) -> String {
        let names = Names::new(&["Acme Bank".to_owned(), "某某银行".to_owned()]);
        Redactor::new(&names, Naming::Kept).text(text)
    }

    #[test]
    fn secrets_become_placeholders() {
        for (text, expected) in [
            // Shapes as the services document them, with made-up values.
            (format!("token {}", ["ghp", "16C7e42F292c6912E7710c838347Ae178B4a"].join("_")), "token <secret-1>"),
            (format!("{} leaked", ["xoxb", "1234567890", "abcdefghij"].join("-")), "<secret-1> leaked"),
            (format!("key {}", ["AKIA", "IOSFODNN7EXAMPLE"].concat()), "key <secret-1>"),
            (
                format!("jwt {}", ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", "dozjgNryP4J3jVmN"].join(".")),
                "jwt <secret-1>",
            ),
            ("mysql://root:hunter22@db:4000/test".into(), "mysql://root:<secret-1>@db:4000/test"),
            ("dsn app:p4ss@tcp(10.0.1.5:4000)/x".into(), "dsn app:<secret-1>@tcp(10.0.1.5:4000)/x"),
            ("curl -H 'Cookie: JSESSIONID=abc; x=1' https://a".into(), "curl -H 'Cookie: <secret-1>' https://a"),
            ("-H \"Authorization: Bearer abcdefghijklmnop\"".into(), "-H \"Authorization: Bearer <secret-1>"),
            ("https://g.example/d/x?token=abcdef12&from=1".into(), "https://g.example/d/x?token=<secret-1>&from=1"),
            ("password: 'S3cret!'".into(), "password: '<secret-1>'"),
            ("密码是 abc12345，请保密".into(), "密码是 <secret-1>，请保密"),
            ("mysql -h db -u root -psecret1 -e x".into(), "mysql -h db -u root -p<secret-1> -e x"),
            ("ask ann.lee@example.com or ANN@x.cn".into(), "ask <email-1> or <email-2>"),
            ("ann@x.com, bo@x.com, ann@x.com".into(), "<email-1>, <email-2>, <email-1>"),
            ("call 13812345678 or +1 415-555-0100".into(), "call <phone-1> or <phone-2>"),
            ("13812345678,13912345678".into(), "<phone-1>,<phone-2>"),
            ("电话：010-62345678".into(), "电话：<phone-1>"),
            ("from 8.8.8.8 to 10.0.1.5:20160".into(), "from <ip-1> to 10.0.1.5:20160"),
            ("v6 2001:db8::1 and fe80::1".into(), "v6 <ip-1> and fe80::1"),
            ("acme bank and 某某银行 are slow".into(), "<name-1> and <name-2> are slow"),
        ] {
            assert_eq!(redact(&text), expected, "{text}");
        }
    }

    #[test]
    fn what_a_diagnosis_needs_stays() {
        for text in [
            "cluster 7460723698814898616 at 2026-01-06T14:00:00+08:00, v6.5.3, from=1767679200&to=1767682800",
            "tikv_grpc_msg_duration_seconds_bucket{type=\"kv_prewrite\",instance=\"10.0.1.5:20180\"}",
            "[2024/12/03 21:21:13.215 +08:00] [INFO] [peer_storage.rs:605] [region_id=849059930] [token=]",
            "192.168.1.1:20160 172.16.0.9 127.0.0.1 100.64.0.1 0.0.0.0",
            "std::sync::Arc a::b store-1:20160 15:04:05 1:2:3",
            "https://clinic.pingcap.com/portal/#/orgs/1372813089206831234/clusters/7460723698814898616?from=1767679200",
            "trace id 4bf92f3577b34da6a3ce929d0e0e4736 region 13812345678901 [~accountid:5b10ac8d82e05b22cc7d4ef5]",
            "store_batch_wait 1.3 s, persist_log 28.1 s, 1300 - 1400 1500 1600",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn anonymised_instances_keep_their_component() {
        let names = Names::new(&[]);
        let mut redactor = Redactor::new(&names, Naming::Anonymised);
        let text = "10.0.1.5:20160 is slower than 10.0.1.6:20160; 10.0.1.5:20160 again, pd 10.0.1.7:2379";
        assert_eq!(redactor.text(text), "<tikv-1> is slower than <tikv-2>; <tikv-1> again, pd <pd-1>");
    }

    proptest! {
        #[test]
        fn any_text_is_redacted_once(text in "(\\PC|[@:.=/ -]|token=|13812345678|8\\.8\\.8\\.8|a@b\\.cc){0,40}") {
            let once = redact(&text);
            prop_assert!(!once.contains(" 13812345678 "));
            prop_assert!(!once.contains(" a@b.cc "));
        }
    }
}
