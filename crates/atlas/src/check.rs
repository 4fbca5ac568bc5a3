//! What a loaded atlas can still get wrong: `hindcast atlas check`.

use std::collections::BTreeMap;

use crate::atlas::Atlas;
use crate::lexicon::Folded;
use crate::mechanism::Mechanism;

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtlasFinding {
    /// Stable code, as `atlas/shared-alias`.
    pub code: &'static str,
    /// The mechanism's id.
    pub mechanism: String,
    /// What is wrong and what was expected.
    pub message: String,
}

/// A rule about one mechanism: its code and what it finds.
type Rule = (&'static str, fn(&Mechanism) -> Vec<String>);

const RULES: [Rule; 7] = [
    ("atlas/missing-language", missing_language),
    ("atlas/missing-evidence", |m| when(m.evidence.is_empty(), "has no evidence: how would one prove it?")),
    ("atlas/missing-refutation", |m| when(m.refuted_by.is_empty(), "has no refutation: what would exclude it?")),
    ("atlas/missing-source", |m| when(m.sources.is_empty(), "names no source")),
    ("atlas/missing-scope", |m| when(m.scope.is_empty(), "has no scope")),
    ("atlas/invalid-promql", invalid_promql),
    ("atlas/malformed-id", malformed_id),
];

/// Checks everything that loading doesn't.
#[must_use]
pub fn check(atlas: &Atlas) -> Vec<AtlasFinding> {
    let mut findings = Vec::new();
    for (_, mechanism) in atlas.mechanisms() {
        for (code, rule) in RULES {
            let found = rule(mechanism).into_iter();
            findings.extend(found.map(|message| AtlasFinding { code, mechanism: mechanism.id.clone(), message }));
        }
    }
    findings.extend(shared_aliases(atlas));
    findings.extend(unknown_classes(atlas));
    findings.extend(unnamed_metrics(atlas));
    findings.extend(shadowed_aliases(atlas));
    findings
}

fn when(wrong: bool, message: &str) -> Vec<String> {
    if wrong { vec![message.to_owned()] } else { Vec::new() }
}

fn missing_language(mechanism: &Mechanism) -> Vec<String> {
    let mut missing = when(mechanism.aliases_en.is_empty(), "has no English alias");
    missing.extend(when(mechanism.aliases_zh.is_empty(), "has no Chinese alias"));
    missing
}

fn malformed_id(mechanism: &Mechanism) -> Vec<String> {
    let snake =
        |id: &str| !id.is_empty() && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    let ids = std::iter::once(&mechanism.id).chain(&mechanism.covers);
    ids.filter(|id| !snake(id)).map(|id| format!("id {id:?} is not snake case")).collect()
}

fn invalid_promql(mechanism: &Mechanism) -> Vec<String> {
    let parse = |promql: &str| promql_parser::parser::parse(promql).err();
    let queries = mechanism.evidence.iter().filter(|evidence| !evidence.promql.is_empty());
    let wrong = queries.filter_map(|evidence| Some((evidence, parse(&evidence.promql)?)));
    wrong.map(|(evidence, error)| format!("evidence {:?}: {error} in: {}", evidence.metric, evidence.promql)).collect()
}

fn shared_aliases(atlas: &Atlas) -> Vec<AtlasFinding> {
    let mut owners: BTreeMap<String, Vec<(&str, &str)>> = BTreeMap::new();
    for (_, mechanism) in atlas.mechanisms() {
        let names =
            mechanism.aliases_en.iter().chain(&mechanism.aliases_zh).chain(&mechanism.metrics).chain(&mechanism.covers);
        for name in names.chain([&mechanism.id]) {
            let owners = owners.entry(Folded::new(name).as_str().to_owned()).or_default();
            if owners.iter().all(|(id, _)| *id != mechanism.id) {
                owners.push((&mechanism.id, name));
            }
        }
    }
    let shared = owners.into_values().filter(|owners| owners.len() > 1);
    shared
        .map(|owners| AtlasFinding {
            code: "atlas/shared-alias",
            mechanism: owners[1].0.to_owned(),
            message: format!("alias {:?} is also {:?} of `{}`", owners[1].1, owners[0].1, owners[0].0),
        })
        .collect()
}

fn unknown_classes(atlas: &Atlas) -> Vec<AtlasFinding> {
    let classes = &atlas.classes;
    let known = |name: &str| classes.part.contains_key(name) || classes.state.contains_key(name);
    let mut findings = Vec::new();
    for (_, mechanism) in atlas.mechanisms() {
        for phrase in &mechanism.phrases {
            let items: Vec<&str> = crate::lexicon::phrase_items(phrase).collect();
            let unknown = items.iter().find(|item| !known(item)).map(|item| format!("unknown word class <{item}>"));
            let no_part = !items.iter().any(|item| classes.part.contains_key(*item));
            let wrong = unknown.or_else(|| {
                (no_part || items.len() > 3).then(|| "a phrase has one to three classes, the first a part".to_owned())
            });
            findings.extend(wrong.map(|wrong| AtlasFinding {
                code: "atlas/malformed-phrase",
                mechanism: mechanism.id.clone(),
                message: format!("phrase {phrase:?}: {wrong}"),
            }));
        }
    }
    findings
}

/// A metric that names a mechanism must be one that its evidence queries, or the name is a slip.
fn unnamed_metrics(atlas: &Atlas) -> Vec<AtlasFinding> {
    let mut findings = Vec::new();
    for (_, mechanism) in atlas.mechanisms() {
        let queried = |metric: &str| mechanism.evidence.iter().any(|evidence| evidence.promql.contains(metric));
        for metric in mechanism.metrics.iter().filter(|metric| !queried(metric)) {
            findings.push(AtlasFinding {
                code: "atlas/unqueried-metric",
                mechanism: mechanism.id.clone(),
                message: format!("metric {metric:?} appears in no evidence of it"),
            });
        }
    }
    findings
}

/// A class word that contains an alias hides it: "oom killer" as a mere word would hide the mention "oom".
fn shadowed_aliases(atlas: &Atlas) -> Vec<AtlasFinding> {
    let fold = |word: &String| format!(" {} ", Folded::new(word).as_str());
    let mut aliases: BTreeMap<String, &str> = BTreeMap::new();
    for (_, mechanism) in atlas.mechanisms() {
        let names = mechanism.aliases_en.iter().chain(&mechanism.aliases_zh);
        aliases.extend(names.map(|name| (fold(name), mechanism.id.as_str())));
    }
    let classes = atlas.classes.part.iter().chain(&atlas.classes.state);
    let words = classes.flat_map(|(class, words)| words.iter().map(move |word| (class, word)));
    let free = words.filter(|(_, word)| !aliases.contains_key(&fold(word)));
    let hidden = free.flat_map(|(class, word)| {
        let inside = aliases.iter().filter(move |(alias, _)| fold(word).contains(alias.as_str()));
        inside.map(move |(alias, id)| AtlasFinding {
            code: "atlas/shadowed-alias",
            mechanism: (*id).to_owned(),
            message: format!("alias {:?} is hidden by the word {word:?} of class <{class}>", alias.trim()),
        })
    });
    hidden.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_atlas_has_no_findings() {
        let atlas = Atlas::embedded();
        assert_eq!(check(&atlas), []);
        assert!(atlas.mechanisms().count() >= 80);
    }

    #[test]
    fn a_damaged_mechanism_is_found() {
        let dir = std::env::temp_dir().join(format!("hindcast-atlas-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a temporary folder");
        let text = include_str!("../../../atlas/io_jitter.toml")
            .replacen("rate(node_disk_write_time_seconds_total[1m])", "rate(node_disk_write_time_seconds_total[1m]", 1)
            .replacen("'io hang'", "'io jitter'", 1)
            .replacen("'<disk> <slow>'", "'<disc> <slow>'", 1);
        let only_io =
            text.lines().map(|line| if line.starts_with("upstream_causes") { "upstream_causes = []" } else { line });
        std::fs::write(dir.join("io_jitter.toml"), strip_lists(&only_io.collect::<Vec<_>>().join("\n")))
            .expect("written");
        let lexicon =
            include_str!("../../../atlas/lexicon.toml").split("# A component named alone").next().unwrap_or_default();
        std::fs::write(dir.join("lexicon.toml"), lexicon).expect("written");
        let atlas = Atlas::load(&dir).expect("loads");
        let codes: Vec<&str> = check(&atlas).iter().map(|finding| finding.code).collect();
        for code in ["atlas/invalid-promql", "atlas/shared-alias", "atlas/malformed-phrase"] {
            assert!(codes.contains(&code), "{code} is missing from {codes:?}");
        }
        std::fs::remove_dir_all(&dir).expect("removed");
    }

    /// Empties the multi-line lists of causes, which name mechanisms of other files.
    fn strip_lists(text: &str) -> String {
        let mut inside = false;
        let kept = text.lines().filter(|line| {
            let drop = inside;
            inside = (inside || *line == "upstream_causes = []") && !line.starts_with("feeds_back_to");
            !drop || line.starts_with("feeds_back_to")
        });
        kept.collect::<Vec<_>>().join("\n")
    }
}
