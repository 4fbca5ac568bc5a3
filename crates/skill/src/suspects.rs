//! What to check first, and with which evidence.

use hindcast_atlas::{Atlas, MechanismIx, Role, Subject};
use hindcast_case::EntryMode;

use crate::Signs;

/// How far upstream of a reported sign a suspect may lie.
const REACH: u8 = 3;

/// Queries that are worth listing for one suspect.
const QUERIES: usize = 1;

/// The mechanisms to check first: those that explain most of what is reported, nearest first, without what is excluded.
/// With nothing reported, the root mechanisms of the route that have most consequences.
pub(crate) fn first_checks(
    atlas: &Atlas,
    signs: &Signs,
    mode: EntryMode,
    proven: Option<MechanismIx>,
    most: usize,
) -> Vec<MechanismIx> {
    let excluded = |ix: MechanismIx| {
        signs.excluded.iter().any(|subject| match subject {
            Subject::Mechanism(other) => *other == ix,
            Subject::Family(family) => atlas.family_members(*family).contains(&ix),
        })
    };
    let reported: Vec<MechanismIx> = match proven {
        Some(ix) => vec![ix],
        None => signs.reported.iter().flat_map(|subject| members(atlas, *subject)).collect(),
    };
    let mut scored: Vec<(u32, MechanismIx)> = Vec::new();
    for (ix, mechanism) in atlas.mechanisms() {
        if excluded(ix) || mechanism.role == Role::Symptom || Some(ix) == proven {
            continue;
        }
        let explained = reported.iter().filter_map(|sign| atlas.distance(ix, *sign)).filter(|edges| *edges <= REACH);
        // A sign that is a root itself explains itself best; one edge upstream counts more than three.
        let explains: u32 = explained.map(|edges| u32::from(2 * (REACH + 1 - edges))).sum();
        let on_route = mechanism.entry_mode == mode || mechanism.also_entry_modes.contains(&mode);
        let by_route = u32::from(on_route) * if reported.is_empty() { reach_of(atlas, ix) } else { 2 };
        let score = explains + by_route;
        if score > 2 || reported.is_empty() && score > 0 {
            scored.push((score, ix));
        }
    }
    scored.sort_by_key(|(score, ix)| (std::cmp::Reverse(*score), *ix));
    scored.into_iter().take(most).map(|(_, ix)| ix).collect()
}

fn reach_of(atlas: &Atlas, ix: MechanismIx) -> u32 {
    u32::try_from(atlas.effects(ix).len()).unwrap_or(u32::MAX)
}

fn members(atlas: &Atlas, subject: Subject) -> Vec<MechanismIx> {
    match subject {
        Subject::Mechanism(ix) => vec![ix],
        Subject::Family(family) => atlas.family_members(family).to_vec(),
    }
}

/// The evidence that would prove a suspect, with its query.
pub(crate) fn needed_evidence(atlas: &Atlas, suspect: MechanismIx) -> Vec<String> {
    let mechanism = &atlas[suspect];
    let queries = mechanism.evidence.iter().take(QUERIES);
    queries
        .map(|evidence| {
            let threshold =
                if evidence.threshold.is_empty() { String::new() } else { format!("; {}", evidence.threshold) };
            let query = if evidence.promql.is_empty() { String::new() } else { format!(" `{}`", evidence.promql) };
            format!("{}: {}{query} ({}{threshold})", mechanism.id, evidence.metric, evidence.shape)
        })
        .collect()
}
