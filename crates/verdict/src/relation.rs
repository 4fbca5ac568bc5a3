//! How the skill's bottleneck relates to the engineers'.

use hindcast_atlas::{Atlas, CausalPath, MechanismIx, Relation, Shared, Subject};

use crate::conclusion::Conclusion;
use crate::rubric::RelationKind;
use hindcast_text::{ClaimRole, Claims};

/// The relation of two bottlenecks, with what shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BottleneckRelation {
    /// Which relation.
    pub kind: RelationKind,
    /// Causal edges between the two; zero where there are none.
    pub edges: u8,
    /// The causal path between the two, cause first; empty where there is none.
    pub path: CausalPath,
    /// What siblings share.
    pub shared: Option<MechanismIx>,
    /// The engineers' own words, not the atlas, make it a cause or a consequence.
    pub said_by_engineers: bool,
}

impl BottleneckRelation {
    fn of(kind: RelationKind) -> Self {
        Self { kind, edges: 0, path: Vec::new(), shared: None, said_by_engineers: false }
    }
}

/// Relates the skill's bottleneck to the engineers'.
pub(crate) fn relate(atlas: &Atlas, human: &Conclusion, skill: &Conclusion) -> BottleneckRelation {
    let Some(named) = skill.bottleneck.map(|stated| stated.value) else {
        let unknown = skill.unknown_bottleneck.is_some();
        return BottleneckRelation::of(if unknown { RelationKind::Unknown } else { RelationKind::None });
    };
    let Some(theirs) = human.bottleneck.map(|stated| stated.value) else {
        return BottleneckRelation::of(RelationKind::Unrelated);
    };
    match (named, theirs) {
        (a, b) if a == b && skill.is_finer => BottleneckRelation::of(RelationKind::Refines),
        (a, b) if a == b => BottleneckRelation::of(RelationKind::Same),
        (Subject::Mechanism(ix), Subject::Family(family)) if atlas.family_members(family).contains(&ix) => {
            BottleneckRelation::of(RelationKind::Refines)
        }
        // The skill stays vaguer than the engineers: it names a component, not what is wrong with it.
        (Subject::Family(_), _) => BottleneckRelation::of(RelationKind::None),
        (Subject::Mechanism(ix), Subject::Family(family)) => {
            let members = atlas.family_members(family).iter();
            let relations = members.map(|member| relate_mechanisms(atlas, &human.claims, ix, *member));
            relations.min_by_key(|relation| (rank(relation.kind), relation.edges)).expect("a family has members")
        }
        (Subject::Mechanism(ix), Subject::Mechanism(other)) => relate_mechanisms(atlas, &human.claims, ix, other),
    }
}

fn rank(kind: RelationKind) -> u8 {
    match kind {
        RelationKind::Same | RelationKind::Refines => 0,
        RelationKind::Upstream | RelationKind::Downstream => 1,
        RelationKind::Sibling => 2,
        RelationKind::Unrelated | RelationKind::None | RelationKind::Unknown => 3,
    }
}

fn relate_mechanisms(atlas: &Atlas, human: &Claims, skill: MechanismIx, theirs: MechanismIx) -> BottleneckRelation {
    let known = match atlas.relation(skill, theirs) {
        Relation::Same => BottleneckRelation::of(RelationKind::Same),
        Relation::Upstream(edges) => with_path(atlas, RelationKind::Upstream, edges, skill, theirs),
        Relation::Downstream(edges) => with_path(atlas, RelationKind::Downstream, edges, theirs, skill),
        Relation::Sibling(Shared::Cause(shared) | Shared::Effect(shared)) => {
            BottleneckRelation { shared: Some(shared), ..BottleneckRelation::of(RelationKind::Sibling) }
        }
        Relation::Unrelated => BottleneckRelation::of(RelationKind::Unrelated),
    };
    // Of this incident the engineers know more than the atlas knows in general.
    match said_of(human, skill, theirs) {
        Some(kind) if kind != known.kind => {
            let path = if kind == RelationKind::Upstream { vec![skill, theirs] } else { vec![theirs, skill] };
            BottleneckRelation { edges: 1, path, said_by_engineers: true, ..BottleneckRelation::of(kind) }
        }
        _ => known,
    }
}

/// Whether the engineers call the skill's mechanism a consequence or a cause of theirs.
fn said_of(human: &Claims, skill: MechanismIx, theirs: MechanismIx) -> Option<RelationKind> {
    let is = |at: usize, ix: MechanismIx| human.claims[at].subject == Subject::Mechanism(ix);
    let edge = |from, to| human.edges.iter().any(|(cause, effect)| is(*cause, from) && is(*effect, to));
    if edge(theirs, skill) {
        return Some(RelationKind::Downstream);
    }
    if edge(skill, theirs) {
        return Some(RelationKind::Upstream);
    }
    let roles = human.claims.iter().filter(|claim| claim.subject == Subject::Mechanism(skill)).map(|claim| claim.role);
    let only_symptom = roles.clone().count() > 0 && roles.clone().all(|role| role == ClaimRole::Symptom);
    only_symptom.then_some(RelationKind::Downstream)
}

fn with_path(
    atlas: &Atlas,
    kind: RelationKind,
    edges: u8,
    cause: MechanismIx,
    effect: MechanismIx,
) -> BottleneckRelation {
    let path = atlas.causal_path(cause, effect).unwrap_or_default();
    BottleneckRelation { edges, path, ..BottleneckRelation::of(kind) }
}
