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
    flaky: usize,
    matched_share: f64,
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
        let words = [record.agent.as_str(), record.agent_version.as_str(), record.model.as_str()];
        let agent = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        if !agent.is_empty() && !self.agents.contains(&agent) {
            self.agents.push(agent);
            self.agents.sort();
        }
    }

    /// The verdicts of one case's repeats: whether each matches.
    pub(super) fn add_repeats(&mut self, matched: &[bool]) {
        let count = matched.iter().filter(|matched| **matched).count();
        self.cases += 1;
        self.all_matched += usize::from(count == matched.len());
        self.flaky += usize::from(count > 0 && count < matched.len());
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
        if repeats > 1 && self.cases > 0 {
            value["pass_at_1"] = json!(self.pass_at_1());
            value["pass_all"] = json!({"matched": self.all_matched, "cases": self.cases});
            value["flaky"] = json!(self.flaky);
        }
        value
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
        if !self.agents.is_empty() {
            text.push_str(&format!("  agents: {}\n", self.agents.join(", ")));
        }
        if repeats > 1 && self.cases > 0 {
            text.push_str(&format!(
                "  over {repeats} repeats: matched {:.0} % of the time; all {repeats} matched in {} of {} cases; {} flaky\n",
                100.0 * self.pass_at_1(),
                self.all_matched,
                self.cases,
                self.flaky,
            ));
        }
        text
    }
}
