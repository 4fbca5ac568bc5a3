//! The comparison: two conclusions in, one verdict out.

use hindcast_atlas::Subject;
use hindcast_case::{Case, EntryMode, HumanStatus, MatchLevel, MismatchType, SubCapability, TikvSide, WindowReview};

use crate::conclusion::{Conclusion, Reader, incident_text};
use crate::notes;
use crate::relation::{BottleneckRelation, relate};
use crate::rubric::{Facts, RelationKind, Rubric};
use crate::suggest;
use crate::windows;
use hindcast_text::{ClaimRole, Claims};

/// A verdict with everything that led to it.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The verdict.
    pub level: MatchLevel,
    /// The rule of the rubric that fired.
    pub rule: String,
    /// What that rule means.
    pub why: String,
    /// In what the conclusions differ.
    pub mismatch: Vec<MismatchType>,
    /// One sentence a finding.
    pub notes: Vec<String>,
    /// What to change in the skill.
    pub suggestions: Vec<String>,
    /// The windows, one by one.
    pub windows: Vec<WindowReview>,
    /// The engineers' conclusion as it was read.
    pub human: Conclusion,
    /// The skill's conclusion as it was read.
    pub skill: Conclusion,
    /// How the two bottlenecks relate.
    pub relation: BottleneckRelation,
    /// The comparison of the other dimensions.
    pub dimensions: Dimensions,
}

/// How the two conclusions compare, apart from the bottleneck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimensions {
    /// The sides go together.
    pub side_compatible: bool,
    /// The paths go together.
    pub path_compatible: bool,
    /// The scopes contradict: one instance against the cluster.
    pub scope_contradicts: bool,
    /// The route is one on which the engineers' bottleneck is found; none when either is not known.
    pub entry_mode_right: Option<bool>,
    /// The engineers excluded what the skill names.
    pub ruled_out: bool,
}

/// Compares conclusions; built once.
#[derive(Debug)]
pub struct Comparer {
    /// Reads the conclusions.
    pub reader: Reader,
    rubric: Rubric,
}

impl Comparer {
    /// A comparer for this atlas.
    #[must_use]
    pub fn new(atlas: hindcast_atlas::Atlas) -> Self {
        Self { reader: Reader::new(atlas), rubric: Rubric::shipped() }
    }

    /// Whether the engineers' conclusion names no cause, by its status or by what it says.
    #[must_use]
    pub fn human_status(&self, case: &Case, human: &Conclusion) -> HumanStatus {
        let unclear = case.final_human_conclusion.status == Some(HumanStatus::Unclear) || human.bottleneck.is_none();
        if unclear { HumanStatus::Unclear } else { HumanStatus::Clear }
    }

    /// Compares the skill's conclusion of a case with the engineers'.
    #[must_use]
    pub fn compare(&self, case: &Case) -> Verdict {
        let incident = self.reader.incident(case);
        let human = self.reader.human_of(case, &incident);
        let skill = self.reader.skill_of(&case.skill_conclusion, &incident);
        let relation = relate(&self.reader.atlas, &human, &skill);
        let dimensions = self.dimensions(case, &human, &skill, &relation);
        let facts = Facts {
            human_unclear: self.human_status(case, &human) == HumanStatus::Unclear,
            side: dimensions.side_compatible,
            path: dimensions.path_compatible,
            scope_contradicts: dimensions.scope_contradicts,
            entry_mode_right: dimensions.entry_mode_right == Some(true),
            relation: relation.kind,
            edges: relation.edges,
            ruled_out: dimensions.ruled_out,
        };
        let (rule, level) = self.rubric.decide(&facts);
        let mut verdict = Verdict {
            level,
            rule: rule.id.clone(),
            why: rule.why.clone(),
            mismatch: Vec::new(),
            notes: Vec::new(),
            suggestions: Vec::new(),
            windows: windows::review(self, case, &skill),
            human,
            skill,
            relation,
            dimensions,
        };
        verdict.mismatch = self.mismatch_types(case, &verdict);
        verdict.notes = notes::notes(&self.reader, case, &verdict);
        verdict.suggestions = suggest::suggestions(&self.reader, case, &verdict);
        verdict
    }

    fn dimensions(
        &self,
        case: &Case,
        human: &Conclusion,
        skill: &Conclusion,
        relation: &BottleneckRelation,
    ) -> Dimensions {
        let rubric = &self.rubric;
        let value = |conclusion: &Conclusion| {
            (conclusion.side.map(|s| s.value), conclusion.path.map(|s| s.value), conclusion.scope.map(|s| s.value))
        };
        let ((side, path, scope), (skill_side, skill_path, skill_scope)) = (value(human), value(skill));
        let depends = human
            .bottleneck
            .is_some_and(|b| self.reader.atlas[self.reader.representative(b.value)].is_tikv_side == TikvSide::Partly);
        Dimensions {
            side_compatible: depends || rubric.sides_compatible(side, skill_side),
            path_compatible: rubric.paths_compatible(path, skill_path),
            scope_contradicts: rubric.scopes_contradict(scope, skill_scope),
            entry_mode_right: self.entry_mode_right(case.skill_conclusion.entry_mode, human, relation),
            ruled_out: skill.bottleneck.is_some_and(|named| self.is_ruled_out(human, named.value)),
        }
    }

    /// A route is right when the engineers' bottleneck is found on it. The generic route, which every diagnosis may start
    /// on, is right when it led next to the bottleneck.
    fn entry_mode_right(
        &self,
        mode: Option<EntryMode>,
        human: &Conclusion,
        relation: &BottleneckRelation,
    ) -> Option<bool> {
        let mode = mode?;
        let bottleneck = human.bottleneck?;
        let members = match bottleneck.value {
            Subject::Mechanism(ix) => vec![ix],
            Subject::Family(family) => self.reader.atlas.family_members(family).to_vec(),
        };
        let mechanisms = || members.iter().map(|ix| &self.reader.atlas[*ix]);
        let found_on = mechanisms().any(|m| m.entry_mode == mode || m.also_entry_modes.contains(&mode));
        let outside = mechanisms().all(|m| m.entry_mode == EntryMode::NotTikvSlowDiagnosis);
        let near = match relation.kind {
            RelationKind::Same | RelationKind::Refines => true,
            RelationKind::Upstream | RelationKind::Downstream => relation.edges <= 2,
            _ => false,
        };
        Some(found_on || mode == EntryMode::GenericTikvSlow && near && !outside)
    }

    fn is_ruled_out(&self, human: &Conclusion, named: Subject) -> bool {
        let is_theirs = human.bottleneck.is_some_and(|bottleneck| bottleneck.value == named);
        !is_theirs && self.excludes(&human.claims, named)
    }

    /// Whether what the skill was shown excludes what it names: "disk is normal", and it concludes the disk.
    fn overlooks(&self, case: &Case, skill: &Conclusion) -> bool {
        let shown = || self.reader.claims(&incident_text(case));
        skill.bottleneck.is_some_and(|named| self.excludes(&shown(), named.value))
    }

    fn excludes(&self, claims: &Claims, named: Subject) -> bool {
        let atlas = &self.reader.atlas;
        let covers = |excluded: Subject| match (excluded, named) {
            (Subject::Family(family), Subject::Mechanism(ix)) => atlas.family_members(family).contains(&ix),
            _ => excluded == named,
        };
        claims.claims.iter().any(|claim| claim.role == ClaimRole::RuledOut && covers(claim.subject))
    }

    fn mismatch_types(&self, case: &Case, verdict: &Verdict) -> Vec<MismatchType> {
        if matches!(verdict.level, MatchLevel::Matched | MatchLevel::HumanConclusionUnclear) {
            return Vec::new();
        }
        let (human, skill) = (&verdict.human, &verdict.skill);
        let conclusion = &case.skill_conclusion;
        let (scope, path) = (|c: &Conclusion| c.scope.map(|s| s.value), |c: &Conclusion| c.path.map(|s| s.value));
        let kind = verdict.relation.kind;
        let partial = verdict.level == MatchLevel::PartiallyMatched;
        let nothing_shown =
            case.initial_symptom.trim().is_empty() && case.canonical_incident.description_text.trim().is_empty();
        let mode = conclusion.entry_mode;
        let right_mode = verdict.dimensions.entry_mode_right == Some(true);
        let unread = |mode: EntryMode| {
            let read = &conclusion.reference_files_consulted;
            right_mode && !read.is_empty() && !read.contains(&mode.reference())
        };
        let inactive = |mode: EntryMode| {
            let active = &conclusion.activated_subcapabilities;
            let own = SubCapability::from(mode.reference());
            right_mode && !active.is_empty() && !active.iter().any(|capability| capability.known() == Some(own))
        };
        let found = [
            (MismatchType::WrongEntryMode, verdict.dimensions.entry_mode_right == Some(false)),
            (MismatchType::WrongSide, !verdict.dimensions.side_compatible),
            (MismatchType::WrongScope, self.rubric.scope_is_wrong(scope(human), scope(skill))),
            (MismatchType::WrongPath, self.rubric.path_is_wrong(path(human), path(skill))),
            (MismatchType::WrongBottleneck, !matches!(kind, RelationKind::Same | RelationKind::Refines)),
            (MismatchType::SymptomNamedAsCause, partial && kind == RelationKind::Downstream),
            (MismatchType::CauseBeyondEvidence, partial && kind == RelationKind::Upstream),
            (MismatchType::OverlookedEvidence, !partial && self.overlooks(case, skill)),
            (MismatchType::ReferenceNotConsulted, mode.is_some_and(unread)),
            (MismatchType::SubcapabilityNotActivated, mode.is_some_and(inactive)),
            (MismatchType::InsufficientInputs, nothing_shown),
        ];
        let mut types: Vec<MismatchType> =
            found.into_iter().filter(|(_, holds)| *holds).map(|(kind, _)| kind).collect();
        types.extend(notes::overstated(case, verdict));
        types.sort();
        types
    }
}

impl Verdict {
    /// Writes the verdict into its case.
    pub fn record(self, case: &mut Case) {
        case.match_level = Some(self.level);
        case.mismatch_type = self.mismatch;
        case.comparison_notes = self.notes;
        case.improvement_suggestions = self.suggestions;
        case.window_reviews = self.windows;
    }
}
