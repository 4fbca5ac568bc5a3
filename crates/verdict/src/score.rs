//! How well a conclusion is read: extracted values against labels.

use hindcast_case::{Case, HumanStatus, Path, Scope, TikvSide, Vocabulary};
use serde::Deserialize;

use crate::calibrate::{PairError, vocabulary};
use crate::compare::Comparer;

/// What an expert reads in a human conclusion.
#[derive(Debug, Clone)]
pub struct Label {
    /// The case.
    pub incident_id: String,
    status: HumanStatus,
    side: TikvSide,
    scope: Scope,
    path: Path,
    /// Id of the bottleneck; empty when none is named.
    bottleneck: String,
}

#[derive(Deserialize)]
struct LabelLine {
    incident_id: String,
    status: String,
    side: String,
    scope: String,
    path: String,
    #[serde(default)]
    bottleneck: String,
}

/// Reads one line of a labels file.
///
/// # Errors
/// When it is not JSON of the expected shape, or a word is outside its vocabulary.
pub fn read_label(line: &str) -> Result<Label, PairError> {
    let line: LabelLine = serde_json::from_str(line)?;
    Ok(Label {
        incident_id: line.incident_id,
        status: vocabulary(&line.status)?,
        side: vocabulary(&line.side)?,
        scope: vocabulary(&line.scope)?,
        path: vocabulary(&line.path)?,
        bottleneck: line.bottleneck,
    })
}

/// Labels met, by field.
#[derive(Debug, Clone, Default)]
pub struct LabelScore {
    /// Labels compared.
    pub labels: usize,
    /// Status right.
    pub status: usize,
    /// Side right.
    pub side: usize,
    /// Scope right.
    pub scope: usize,
    /// Path right.
    pub path: usize,
    /// Bottleneck right.
    pub bottleneck: usize,
    /// Bottleneck right or one causal edge away.
    pub within_one_edge: usize,
    /// One line for every value that differs: incident, field, label, extracted.
    pub misses: Vec<[String; 4]>,
}

/// Scores what is read from each case against its label.
#[must_use]
pub fn score_labels(comparer: &Comparer, labels: &[(Label, Case)]) -> LabelScore {
    let mut score = LabelScore { labels: labels.len(), ..LabelScore::default() };
    for (label, case) in labels {
        let human = comparer.reader.human(case);
        let status = comparer.human_status(case, &human);
        let clear = status == HumanStatus::Clear;
        let fields = comparer.reader.structured(&human);
        let bottleneck = if clear { fields.bottleneck } else { String::new() };
        let side = fields.side.filter(|_| clear).unwrap_or(TikvSide::Unknown);
        let scope = fields.scope.filter(|_| clear).unwrap_or(Scope::Unknown);
        let path = fields.path.map_or("", Vocabulary::as_str);
        let mut check = |field: &str, expected: &str, found: &str| {
            let right = expected == found;
            if !right {
                score.misses.push([label.incident_id.clone(), field.to_owned(), expected.to_owned(), found.to_owned()]);
            }
            usize::from(right)
        };
        let hits = [
            check("status", label.status.as_str(), status.as_str()),
            check("side", label.side.as_str(), side.as_str()),
            check("scope", label.scope.as_str(), scope.as_str()),
            check("path", label.path.as_str(), path),
            check("bottleneck", &label.bottleneck, &bottleneck),
        ];
        score.status += hits[0];
        score.side += hits[1];
        score.scope += hits[2];
        score.path += hits[3];
        score.bottleneck += hits[4];
        score.within_one_edge += usize::from(hits[4] == 1 || is_one_edge(comparer, &label.bottleneck, &bottleneck));
    }
    score
}

fn is_one_edge(comparer: &Comparer, a: &str, b: &str) -> bool {
    let atlas = &comparer.reader.atlas;
    let (Some(a), Some(b)) = (atlas.find(a), atlas.find(b)) else { return false };
    atlas.distance(a, b).or(atlas.distance(b, a)).is_some_and(|edges| edges <= 1)
}
