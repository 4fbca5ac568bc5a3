//! What a finished run comes to, as tables: one model for every writer that shows tables.

use hindcast_case::{MatchLevel, Vocabulary};
use serde_json::Value;

use crate::breakdown::Axis;
use crate::stored::StoredRun;

/// One table of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// What it shows.
    pub title: String,
    /// Its columns.
    pub head: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}

impl Section {
    fn new(title: impl Into<String>, head: &[&str], rows: Vec<Vec<String>>) -> Self {
        Self { title: title.into(), head: head.iter().map(|&name| name.to_owned()).collect(), rows }
    }
}

/// The tables of a run, the verdicts first; what it has nothing of is left out.
#[must_use]
pub fn sections(run: &StoredRun) -> Vec<Section> {
    let totals = &run.totals;
    let mut sections = vec![verdicts(totals)];
    let mut kinds: Vec<(&String, u64)> = counts(&totals["mismatch_types"]).collect();
    kinds.sort_by_key(|(kind, count)| (std::cmp::Reverse(*count), kind.as_str()));
    let kinds = kinds.into_iter().map(|(kind, count)| vec![kind.clone(), count.to_string()]);
    sections.push(Section::new("In what the conclusions differ", &["kind", "cases"], kinds.collect()));
    let routes = totals["entry_modes"].as_array().into_iter().flatten();
    let routes = routes.map(|route| ["engineers", "skill", "cases"].map(|name| shown(&route[name])).to_vec());
    let head = ["engineers", "skill", "cases"];
    sections.push(Section::new("Entry modes: the engineers' against the skill's", &head, routes.collect()));
    for axis in Axis::ALL {
        let groups = totals["by"][axis.as_str()].as_object().into_iter().flatten();
        let rows = groups.map(|(name, levels)| {
            let counts = MatchLevel::ALL[..3].iter().map(|level| shown(&levels[level.as_str()]));
            std::iter::once(name.clone()).chain(counts).collect()
        });
        let head = ["", "matched", "partially_matched", "mismatched"];
        sections.push(Section::new(format!("By {}", axis.title()), &head, rows.collect()));
    }
    sections.push(replays(&totals["replays"]));
    sections.retain(|section| !section.rows.is_empty());
    sections
}

/// The headline: shares of the comparable cases with their intervals.
fn verdicts(totals: &Value) -> Section {
    let comparable = totals["comparable"].as_u64().unwrap_or_default();
    let rows = MatchLevel::ALL[..3].iter().map(|level| {
        let level = level.as_str();
        let count = totals["match_levels"][level].as_u64().unwrap_or_default();
        let interval = &totals["wilson95"][level];
        let interval = match (interval[0].as_f64(), interval[1].as_f64()) {
            (Some(low), Some(high)) => format!("{:.0} % to {:.0} %", 100.0 * low, 100.0 * high),
            _ => String::new(),
        };
        #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
        let share = if comparable == 0 { 0.0 } else { 100.0 * count as f64 / comparable as f64 };
        vec![level.to_owned(), count.to_string(), format!("{share:.0} %"), interval]
    });
    let of = format!("cases of {comparable}");
    Section::new("Verdicts", &["verdict", &of, "share", "95 % Wilson interval"], rows.collect())
}

/// What the replays took; nothing for the built-in skill.
fn replays(replays: &Value) -> Section {
    let time = |name: &str| replays["seconds"][name].as_f64().map(|seconds| format!("{seconds:.1} s"));
    let tokens = ["input_tokens", "cached_tokens", "output_tokens"].map(|name| shown(&replays[name]));
    let has_tokens = tokens.iter().any(|count| count != "0");
    let all = &replays["pass_all"];
    let facts = [
        ("done", Some(shown(&replays["done"]))),
        ("failed", Some(shown(&replays["failed"]))),
        ("tokens read / from a cache / written", has_tokens.then(|| tokens.join(" / "))),
        ("US dollars", replays["cost_usd"].as_f64().map(|cost| format!("{cost:.2}"))),
        ("time, median", time("median")),
        ("time, longest", time("longest")),
        ("time, sum", time("sum")),
        ("repeats", replays["repeats"].as_u64().filter(|repeats| *repeats > 1).map(|repeats| repeats.to_string())),
        ("pass@1", replays["pass_at_1"].as_f64().map(|share| format!("{:.0} %", 100.0 * share))),
        (
            "all repeats match",
            all.is_object().then(|| format!("{} of {}", shown(&all["matched"]), shown(&all["cases"]))),
        ),
        ("flaky cases", replays["flaky"].as_u64().map(|count| count.to_string())),
    ];
    let told = facts.into_iter().filter_map(|(name, value)| Some(vec![name.to_owned(), value?]));
    Section::new("Replays", &["", ""], if replays.is_object() { told.collect() } else { Vec::new() })
}

fn counts(object: &Value) -> impl Iterator<Item = (&String, u64)> {
    object.as_object().into_iter().flatten().map(|(name, count)| (name, count.as_u64().unwrap_or_default()))
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
