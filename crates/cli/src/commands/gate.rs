//! `--gate`: rules that a run must keep.

use std::path::{Path, PathBuf};

use hindcast_case::MatchLevel;
use hindcast_report::{Difference, StoredRun};

use crate::commands::stored;
use crate::failure::{Failure, Outcome};

/// What rules can ask for, with what it is.
const FIGURES: [(&str, &str); 13] = [
    ("agreement", "share of comparable cases that match"),
    ("partial", "share of comparable cases that match in full or in part"),
    ("cases", "cases compared, and those that leak"),
    ("comparable", "cases whose agreement counts"),
    ("matched", "cases that match"),
    ("partially_matched", "cases that match in part"),
    ("mismatched", "cases that don't match"),
    ("leaking", "cases whose inputs give the conclusion away"),
    ("failed", "cases whose replay failed"),
    ("missing", "replays that are missing"),
    ("unusable", "files that could not be used"),
    ("flaky", "cases whose repeats differ"),
    ("cost", "US dollars"),
];

/// Rules joined by `and`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gate(Vec<Rule>);

#[derive(Debug, Clone, PartialEq)]
enum Rule {
    /// A figure against a number.
    Figure { name: &'static str, relation: Relation, bound: f64 },
    /// No case that matched in that run may have stopped to match.
    NoFlipFrom(PathBuf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    AtLeast,
    AtMost,
    Above,
    Below,
    Equal,
}

impl Relation {
    /// Longer signs first: `>` begins `>=`.
    const ALL: [(&'static str, Self); 5] =
        [(">=", Self::AtLeast), ("<=", Self::AtMost), ("==", Self::Equal), (">", Self::Above), ("<", Self::Below)];

    fn holds(self, figure: f64, bound: f64) -> bool {
        match self {
            Self::AtLeast => figure >= bound,
            Self::AtMost => figure <= bound,
            Self::Above => figure > bound,
            Self::Below => figure < bound,
            Self::Equal => (figure - bound).abs() < 1e-9,
        }
    }

    fn sign(self) -> &'static str {
        Self::ALL.iter().find(|(_, relation)| *relation == self).expect("ALL has every relation").0
    }
}

impl Gate {
    /// Reads rules such as `agreement>=0.8 and no-flip-from:main`.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let rules: Vec<&str> = text.split(" and ").map(str::trim).collect();
        rules.into_iter().map(rule).collect::<Result<_, _>>().map(Self)
    }

    /// The rules that the run breaks, each in one sentence.
    pub(crate) fn broken(&self, run: &StoredRun) -> Result<Vec<String>, Failure> {
        let mut broken = Vec::new();
        for rule in &self.0 {
            match rule {
                Rule::Figure { name, relation, bound } => match figure(run, name) {
                    Some(figure) if relation.holds(figure, *bound) => {}
                    Some(figure) => broken.push(format!("{name}{}{bound}: it is {}", relation.sign(), shown(figure))),
                    None => broken.push(format!("{name}{}{bound}: the run doesn't tell it", relation.sign())),
                },
                Rule::NoFlipFrom(name) => {
                    let other = stored::open(&stored::place(name, &run.dir))?;
                    let difference = Difference::between(&other, run);
                    let lost = difference.flips.iter().filter(|flip| flip.gained() == Some(false));
                    let lost: Vec<&str> = lost.map(|flip| flip.after.incident_id.as_str()).collect();
                    if !lost.is_empty() {
                        broken.push(format!(
                            "no-flip-from:{}: {} matched there and don't any more",
                            name.display(),
                            lost.join(", ")
                        ));
                    }
                }
            }
        }
        Ok(broken)
    }
}

fn rule(text: &str) -> Result<Rule, String> {
    if let Some(run) = text.strip_prefix("no-flip-from:") {
        return if run.is_empty() {
            Err("no-flip-from: names no run".to_owned())
        } else {
            Ok(Rule::NoFlipFrom(run.into()))
        };
    }
    let Some((sign, relation)) = Relation::ALL.iter().find(|(sign, _)| text.contains(sign)) else {
        return Err(format!(
            "{text:?} is no rule; expected one like agreement>=0.8 or no-flip-from:RUN, joined by \" and \""
        ));
    };
    let (name, bound) = text.split_once(sign).expect("it was just seen");
    let (name, bound) = (name.trim(), bound.trim());
    let Some((name, _)) = FIGURES.iter().find(|(figure, _)| *figure == name) else {
        let near = hindcast_case::nearest(name, FIGURES.iter().map(|(figure, _)| *figure));
        let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        let known = FIGURES.map(|(figure, _)| figure).join(", ");
        return Err(format!("{name:?} is no figure of a run{near}; known: {known}"));
    };
    let number = match bound.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => bound.parse::<f64>(),
    };
    match number {
        Ok(bound) if bound.is_finite() => Ok(Rule::Figure { name, relation: *relation, bound }),
        _ => Err(format!("{bound:?} is no number; expected one like 0.8 or 80%")),
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
fn figure(run: &StoredRun, name: &str) -> Option<f64> {
    let level = |level: MatchLevel| run.cases().filter(|row| row.comparable() == Some(level)).count() as f64;
    let comparable = run.cases().filter(|row| row.comparable().is_some()).count() as f64;
    let share = |count: f64| (comparable > 0.0).then_some(count / comparable);
    let (matched, partial) = (level(MatchLevel::Matched), level(MatchLevel::PartiallyMatched));
    match name {
        "agreement" => share(matched),
        "partial" => share(matched + partial),
        "comparable" => Some(comparable),
        "matched" => Some(matched),
        "partially_matched" => Some(partial),
        "mismatched" => Some(level(MatchLevel::Mismatched)),
        "missing" => Some(run.totals["replays"]["missing"].as_f64().unwrap_or_default()),
        "flaky" => run.totals["replays"]["flaky"].as_f64(),
        "cost" => run.cost(),
        other => run.totals[other].as_f64(),
    }
}

fn shown(figure: f64) -> String {
    let text = format!("{figure:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Holds a run against rules: exit code 1 names each broken rule.
pub(crate) fn run(run: &Path, gate: &Gate) -> Result<Outcome, Failure> {
    verdict(&stored::open(run)?, gate)
}

pub(crate) fn verdict(run: &StoredRun, gate: &Gate) -> Result<Outcome, Failure> {
    let broken = gate.broken(run)?;
    for rule in &broken {
        anstream::eprintln!("gate broken: {}", hindcast_report::printable(rule));
    }
    if broken.is_empty() {
        anstream::eprintln!("gate kept");
    }
    Ok(if broken.is_empty() { Outcome::Clean } else { Outcome::Findings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_or_refused() {
        let gate = Gate::read("agreement>=80% and failed == 0 and no-flip-from:main").expect("rules");
        assert_eq!(
            gate.0,
            [
                Rule::Figure { name: "agreement", relation: Relation::AtLeast, bound: 0.8 },
                Rule::Figure { name: "failed", relation: Relation::Equal, bound: 0.0 },
                Rule::NoFlipFrom("main".into()),
            ]
        );
        for (text, says) in [
            ("", "is no rule"),
            ("agreement", "is no rule"),
            ("agrement>=0.8", "did you mean agreement"),
            ("agreement>=x", "is no number"),
            ("agreement>=0.8 and ", "is no rule"),
            ("no-flip-from:", "names no run"),
        ] {
            let error = Gate::read(text).expect_err(text);
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
