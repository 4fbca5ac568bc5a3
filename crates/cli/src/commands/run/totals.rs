//! What the replays of a run came to, beside the verdicts.

use hindcast_runner::Record;
use serde_json::{Value, json};

/// Counts over the replays of a run.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// Replays that answered or failed.
    done: usize,
    pub(super) failed: usize,
    /// Failures by what a guard found.
    pub(super) guarded: usize,
    pub(super) missing: usize,
    /// Replays whose inputs hold passages that look like instructions.
    pub(super) suspicious: usize,
    /// Replays of an agent that nothing kept from reading the casebook.
    unconfined: usize,
    input_tokens: u64,
    cached_tokens: u64,
    output_tokens: u64,
    cost: Option<f64>,
    /// Versions and models, as the agents tell; each once.
    agents: Vec<String>,
    /// Cases with all their repeats, and of them those whose verdicts all match, differ, and the sum of shares that match.
    cases: usize,
    all_matched: usize,
    flaky: Vec<String>,
    matched_share: f64,
    /// Wall-clock seconds of replays that took any.
    seconds: Vec<f64>,
}

/// Flaky cases that are named in the summary; run.json names all.
const SHOWN: usize = 10;

/// Wall-clock seconds of the replays.
struct Time {
    median: f64,
    longest: f64,
    sum: f64,
}

/// Seconds as people read them.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{s:.1} s"),
        s if s < 6_000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3_600.0),
    }
}

impl Totals {
    pub(super) fn add(&mut self, record: &Record) {
        self.done += 1;
        if let Some(reason) = record.failure() {
            self.failed += 1;
            self.guarded += usize::from(reason.starts_with("guard:"));
        }
        self.suspicious += usize::from(!record.suspicions.is_empty());
        self.unconfined += usize::from(record.confinement == "unavailable");
        self.input_tokens += record.input_tokens;
        self.cached_tokens += record.cached_tokens;
        self.output_tokens += record.output_tokens;
        if let Some(cost) = record.cost {
            *self.cost.get_or_insert_default() += cost;
        }
        if record.seconds > 0.0 && !record.from_cache {
            self.seconds.push(record.seconds);
        }
        let words = [record.agent.as_str(), record.agent_version.as_str(), record.model.as_str()];
        let agent = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        if !agent.is_empty() && !self.agents.contains(&agent) {
            self.agents.push(agent);
            self.agents.sort();
        }
    }

    /// The verdicts of one case's repeats: whether each matches.
    pub(super) fn add_repeats(&mut self, incident_id: &str, matched: &[bool]) {
        let count = matched.iter().filter(|matched| **matched).count();
        self.cases += 1;
        self.all_matched += usize::from(count == matched.len());
        if count > 0 && count < matched.len() {
            self.flaky.push(incident_id.to_owned());
        }
        #[expect(clippy::cast_precision_loss, reason = "repeats are few")]
        let share = count as f64 / matched.len() as f64;
        self.matched_share += share;
    }

    pub(super) fn json(&self, repeats: u32) -> Value {
        let mut value = json!({
            "done": self.done,
            "failed": self.failed,
            "guarded": self.guarded,
            "missing": self.missing,
            "suspicious_inputs": self.suspicious,
            "unconfined": self.unconfined,
            "input_tokens": self.input_tokens,
            "cached_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": self.cost,
            "agents": self.agents,
            "repeats": repeats,
        });
        if let Some(time) = self.time() {
            value["seconds"] = json!({"median": time.median, "longest": time.longest, "sum": time.sum});
        }
        if repeats > 1 && self.cases > 0 {
            value["pass_at_1"] = json!(self.pass_at_1());
            value["pass_all"] = json!({"matched": self.all_matched, "cases": self.cases});
            value["flaky"] = json!(self.flaky.len());
            value["flaky_cases"] = json!(self.flaky);
        }
        value
    }

    fn time(&self) -> Option<Time> {
        let mut seconds = self.seconds.clone();
        seconds.sort_by(f64::total_cmp);
        let (median, longest) = (*seconds.get(seconds.len() / 2)?, *seconds.last()?);
        // Milliseconds: sums of fractions end in noise.
        let sum = (seconds.iter().sum::<f64>() * 1000.0).round() / 1000.0;
        Some(Time { median, longest, sum })
    }

    #[expect(clippy::cast_precision_loss, reason = "cases are far below 2^52")]
    fn pass_at_1(&self) -> f64 {
        self.matched_share / self.cases as f64
    }

    /// The lines of the summary.
    pub(super) fn text(&self, repeats: u32) -> String {
        let mut text = format!("replays: {} done", self.done);
        for (count, what) in [
            (self.failed, "failed (no verdict)"),
            (self.guarded, "of them stopped by a guard"),
            (self.missing, "missing"),
            (self.suspicious, "with inputs that look like instructions"),
            (self.unconfined, "of agents that could have read the casebook"),
        ] {
            if count > 0 {
                text.push_str(&format!(", {count} {what}"));
            }
        }
        text.push('\n');
        let tokens = self.input_tokens + self.cached_tokens + self.output_tokens;
        if tokens > 0 {
            text.push_str(&format!(
                "  tokens: {} in, {} cached, {} out",
                self.input_tokens, self.cached_tokens, self.output_tokens
            ));
            if let Some(cost) = self.cost {
                text.push_str(&format!("; {cost:.2} USD"));
            }
            text.push('\n');
        }
        if let Some(time) = self.time() {
            text.push_str(&format!(
                "  time: median {}, longest {}, {} in all\n",
                duration(time.median),
                duration(time.longest),
                duration(time.sum)
            ));
        }
        if !self.agents.is_empty() {
            text.push_str(&format!("  agents: {}\n", self.agents.join(", ")));
        }
        if repeats > 1 && self.cases > 0 {
            text.push_str(&format!(
                "  over {repeats} repeats: matched {:.0} % of the time; all {repeats} matched in {} of {} cases; {} flaky\n",
                100.0 * self.pass_at_1(),
                self.all_matched,
                self.cases,
                self.flaky.len(),
            ));
            if !self.flaky.is_empty() {
                let shown = &self.flaky[..self.flaky.len().min(SHOWN)];
                let more = if shown.len() < self.flaky.len() { ", …" } else { "" };
                text.push_str(&format!("  flaky: {}{more}\n", shown.join(", ")));
            }
        }
        text
    }
}
