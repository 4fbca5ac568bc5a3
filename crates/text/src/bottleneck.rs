//! Which of a text's claims is the bottleneck that it concludes.

use hindcast_atlas::{Atlas, Subject};
use hindcast_case::TikvSide;

use crate::claims::{Claim, ClaimRole, Claims, Strength};

/// Causes that lie further upstream than this are another story, not the same claim told from its start.
const SAME_STORY: u8 = 3;

/// The claim that a text concludes with; none when it names no cause, or only guesses after saying that none was found.
/// `side` is where the text says that the problem is.
#[must_use]
pub fn bottleneck<'a>(atlas: &Atlas, claims: &'a Claims, side: Option<TikvSide>) -> Option<&'a Claim> {
    let firm = |claim: &&Claim| matches!(claim.role, ClaimRole::Cause | ClaimRole::Contributing | ClaimRole::Symptom);
    let fits = |claim: &&Claim| !contradicts(atlas, claim.subject, side);
    let all: Vec<&Claim> = claims.claims.iter().filter(firm).filter(|c| !is_denied(claims, c)).collect();
    let mut candidates: Vec<&Claim> = all.iter().copied().filter(fits).collect();
    if candidates.is_empty() {
        candidates = all;
    }
    if claims.no_cause_found {
        candidates.retain(|claim| claim.strength >= Strength::Cause);
    }
    if candidates.is_empty() && !claims.no_cause_found {
        let guesses = claims.claims.iter().filter(|claim| claim.role == ClaimRole::Suspected);
        candidates = guesses.filter(|c| !is_denied(claims, c)).collect();
    }
    let chosen = strongest(atlas, claims, &candidates)?;
    Some(specific(atlas, &candidates, chosen))
}

/// A mechanism of a TiKV node can't be what a text means that places the problem outside TiKV.
fn contradicts(atlas: &Atlas, subject: Subject, side: Option<TikvSide>) -> bool {
    let sides = |ix| atlas[ix].is_tikv_side;
    let own = match subject {
        Subject::Mechanism(ix) => sides(ix),
        Subject::Family(family) => sides(atlas.family_members(family)[0]),
    };
    matches!((side, own), (Some(TikvSide::No), TikvSide::Yes) | (Some(TikvSide::Yes), TikvSide::No))
}

/// Whether a later statement rules out what this claim is about.
fn is_denied(claims: &Claims, claim: &Claim) -> bool {
    claims.claims.iter().any(|other| {
        other.role == ClaimRole::RuledOut
            && other.subject == claim.subject
            && other.clause > claim.clause
            && claim.strength < Strength::Root
    })
}

fn strongest<'a>(atlas: &Atlas, claims: &Claims, candidates: &[&'a Claim]) -> Option<&'a Claim> {
    let best = candidates.iter().map(|claim| claim.strength).max()?;
    // Where nothing is called a cause, what it happened in may be one: "after the panic, leaders dropped".
    let weak = best <= Strength::Effect;
    let mut top: Vec<&Claim> = candidates.iter().copied().filter(|claim| claim.strength == best || weak).collect();
    if best < Strength::Cause {
        let parts = top.iter().any(|claim| !triggers(atlas, claim));
        top.retain(|claim| !parts || !triggers(atlas, claim));
    }
    let upstream_of = |claim: &Claim, other: &Claim| {
        let said = leads_to(claims, claim.subject, other.subject);
        // What the text says of this incident outweighs what the atlas knows in general.
        let known = || precedes(atlas, claim, other) && !leads_to(claims, other.subject, claim.subject);
        claim.subject != other.subject && (said || known())
    };
    let first: Vec<&Claim> =
        top.iter().copied().filter(|claim| !top.iter().any(|other| upstream_of(other, claim))).collect();
    let pool = if first.is_empty() { top } else { first };
    // The last word on the root cause counts; of plain statements, the first.
    if best == Strength::Root { pool.last().copied() } else { pool.first().copied() }
}

fn triggers(atlas: &Atlas, claim: &Claim) -> bool {
    matches!(claim.subject, Subject::Mechanism(ix) if atlas[ix].is_trigger)
}

/// Whether the text itself says that the one leads to the other.
fn leads_to(claims: &Claims, from: Subject, to: Subject) -> bool {
    claims.consequences(from).contains(&to)
}

/// Whether the atlas has the one as a near cause of the other, for claims that the text doesn't connect.
fn precedes(atlas: &Atlas, claim: &Claim, other: &Claim) -> bool {
    let (Subject::Mechanism(cause), Subject::Mechanism(effect)) = (claim.subject, other.subject) else { return false };
    // A cause that is called the root stays the root.
    let unconnected = claim.strength < Strength::Root;
    unconnected && atlas.distance(cause, effect).is_some_and(|distance| distance <= SAME_STORY)
}

/// Where only a component is blamed, the fault of it that the text names elsewhere.
fn specific<'a>(atlas: &Atlas, candidates: &[&'a Claim], chosen: &'a Claim) -> &'a Claim {
    let Subject::Family(family) = chosen.subject else { return chosen };
    let members = atlas.family_members(family);
    let named =
        candidates.iter().find(|claim| matches!(claim.subject, Subject::Mechanism(ix) if members.contains(&ix)));
    named.copied().unwrap_or(chosen)
}
