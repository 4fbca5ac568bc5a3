//! The agreement of the runs of a casebook, one behind the other, as a picture.

use hindcast_case::MatchLevel;
use hindcast_verdict::wilson95;
use maud::{Markup, html};

use crate::stored::StoredRun;

/// One run of a trend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Its name.
    pub run: String,
    /// Its skill.
    pub skill: String,
    /// Cases that match.
    pub matched: usize,
    /// Cases whose agreement counts.
    pub comparable: usize,
}

impl Point {
    /// The point of a run that is on disk.
    #[must_use]
    pub fn of(name: &str, run: &StoredRun) -> Self {
        let matched = run.cases().filter(|row| row.comparable() == Some(MatchLevel::Matched)).count();
        let comparable = run.cases().filter(|row| row.comparable().is_some()).count();
        Self { run: name.to_owned(), skill: run.skill().to_owned(), matched, comparable }
    }
}

/// Runs that are drawn; of more the last ones.
const MOST: usize = 40;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 180.0;
const LEFT: f64 = 44.0;
const TOP: f64 = 12.0;

/// The trend as a picture and a table; nothing for fewer than two runs.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of cases and runs are far below 2^52")]
pub(crate) fn trend_section(points: &[Point]) -> Markup {
    let points: Vec<&Point> = points.iter().filter(|point| point.comparable > 0).collect();
    let points = &points[points.len().saturating_sub(MOST)..];
    if points.len() < 2 {
        return html! {};
    }
    let x = |index: usize| LEFT + 10.0 + (WIDTH - LEFT - 20.0) * index as f64 / (points.len() - 1) as f64;
    let y = |share: f64| TOP + (HEIGHT - 2.0 * TOP) * (1.0 - share);
    let share = |point: &Point| point.matched as f64 / point.comparable as f64;
    let place = |value: f64| format!("{value:.1}");
    let line: Vec<String> =
        points.iter().enumerate().map(|(index, point)| format!("{:.1},{:.1}", x(index), y(share(point)))).collect();
    let told =
        |point: &Point| format!("{}: {} of {} matched, {}", point.run, point.matched, point.comparable, point.skill);
    html! {
        h2 { "Agreement over the runs of this casebook" }
        svg.trend viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label="Share of comparable cases that match, run by run" {
            @for mark in [0.0, 0.5, 1.0] {
                line x1=(place(LEFT)) x2=(place(WIDTH)) y1=(place(y(mark))) y2=(place(y(mark))) stroke="currentColor" stroke-opacity="0.2" {}
                text x="0" y=(place(y(mark) + 4.0)) font-size="12" fill="currentColor" { (format!("{:.0} %", 100.0 * mark)) }
            }
            @for (index, point) in points.iter().enumerate() {
                @if let Some(interval) = wilson95(point.matched, point.comparable) {
                    line x1=(place(x(index))) x2=(place(x(index))) y1=(place(y(interval.low))) y2=(place(y(interval.high)))
                        stroke="currentColor" stroke-opacity="0.35" stroke-width="2" {}
                }
            }
            polyline points=(line.join(" ")) fill="none" stroke-width="2" {}
            @for (index, point) in points.iter().enumerate() {
                circle cx=(place(x(index))) cy=(place(y(share(point)))) r="4" { title { (told(point)) } }
            }
        }
        details {
            summary { "The runs (" (points.len()) "); lines show 95 % Wilson intervals" }
            ul { @for point in points { li { (told(point)) } } }
        }
    }
}
