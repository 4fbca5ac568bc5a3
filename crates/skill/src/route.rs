//! Which route to start on.

use hindcast_atlas::{Atlas, Role, Subject};
use hindcast_case::{EntryMode, TikvSide, Vocabulary};
use hindcast_text::Reading;

use crate::Signs;

/// The entry mode that the signs speak for; the generic one when they speak for none.
///
/// Each reported mechanism votes for the route on which it is found. What may stand as a bottleneck weighs more than a
/// symptom, and what the first line (the title) says weighs more than the rest.
pub(crate) fn entry_mode(atlas: &Atlas, signs: &Signs, reading: &Reading) -> EntryMode {
    if reading.places.side.is_some_and(|(side, _)| side == TikvSide::No) {
        return EntryMode::NotTikvSlowDiagnosis;
    }
    let mut votes = [0_u32; EntryMode::ALL.len()];
    for subject in &signs.reported {
        let in_title =
            reading.claims.claims.iter().any(|claim| claim.subject == *subject && sentence(reading, claim.clause) == 0);
        let ix = match subject {
            Subject::Mechanism(ix) => *ix,
            Subject::Family(family) => atlas.family_members(*family)[0],
        };
        let mechanism = &atlas[ix];
        let weight = if mechanism.role == Role::Symptom { 2 } else { 3 } + if in_title { 2 } else { 0 };
        votes[index(mechanism.entry_mode)] += weight;
        for also in &mechanism.also_entry_modes {
            votes[index(*also)] += weight / 2;
        }
    }
    let on_tikv = EntryMode::ALL.iter().any(|mode| *mode != EntryMode::NotTikvSlowDiagnosis && votes[index(*mode)] > 0);
    if votes[index(EntryMode::NotTikvSlowDiagnosis)] > 0 && !on_tikv {
        return EntryMode::NotTikvSlowDiagnosis;
    }
    // A specific route outweighs the generic one; among specific ones the votes decide, then the schema's order.
    let specific = EntryMode::ALL
        .iter()
        .copied()
        .filter(|mode| !matches!(mode, EntryMode::GenericTikvSlow | EntryMode::NotTikvSlowDiagnosis));
    let best = specific.max_by_key(|mode| (votes[index(*mode)], std::cmp::Reverse(index(*mode))));
    let generic = votes[index(EntryMode::GenericTikvSlow)];
    best.filter(|mode| votes[index(*mode)] > 0 && 2 * votes[index(*mode)] >= generic)
        .unwrap_or(EntryMode::GenericTikvSlow)
}

fn index(mode: EntryMode) -> usize {
    EntryMode::ALL.iter().position(|other| *other == mode).expect("ALL has every mode")
}

fn sentence(reading: &Reading, clause: usize) -> usize {
    reading.scan.clauses.get(clause).map_or(0, |clause| clause.sentence)
}
