//! The built-in skill: what a ticket says in, a skill conclusion out.
//!
//! Invariants:
//! - It sees a [`Question`] and nothing else. The engineers' conclusion is no part of that type, so it can't leak in.
//! - It is deterministic, and it proves nothing that the ticket's own measurements don't prove.
//!
//! Start reading at [`BuiltinSkill::diagnose`].

mod measurement;
mod question;
mod route;
mod suspects;

pub use measurement::Measurement;
pub use question::Question;

use hindcast_atlas::{Atlas, MechanismIx, Subject};
use hindcast_case::{EntryMode, Path, Reference, Scope, SkillConclusion, SubCapability, TikvSide, Worded};
use hindcast_text::{ClaimRole, Reading, TextReader};

/// The skill, ready to diagnose any number of questions.
#[derive(Debug)]
pub struct BuiltinSkill<'a> {
    atlas: &'a Atlas,
    texts: &'a TextReader,
}

/// What the text shows: mechanisms that it reports, and those that it excludes.
#[derive(Debug, Default)]
pub(crate) struct Signs {
    /// Reported, in the order of the text, each once.
    pub(crate) reported: Vec<Subject>,
    /// Excluded: "append log looks fine".
    pub(crate) excluded: Vec<Subject>,
}

impl Signs {
    fn exclude(&mut self, subjects: Vec<Subject>) {
        self.reported.retain(|subject| !subjects.contains(subject));
        self.excluded.extend(subjects);
    }
}

/// How many suspects are worth a first check.
const FIRST_CHECKS: usize = 5;

impl<'a> BuiltinSkill<'a> {
    /// The skill over this atlas.
    #[must_use]
    pub fn new(atlas: &'a Atlas, texts: &'a TextReader) -> Self {
        Self { atlas, texts }
    }

    /// Routes from the text: entry mode, what to read, what to check first. A bottleneck is named only where the text
    /// itself reports a measurement that proves it.
    #[must_use]
    pub fn diagnose(&self, question: &Question) -> SkillConclusion {
        let text = question.text();
        let reading = self.texts.read(self.atlas, &text);
        let mut signs = self.signs(&reading);
        let measured = measurement::measurements(self.atlas, &text, &reading);
        // A stage that the ticket shows to be fast is excluded, not reported.
        let fast = measured.iter().filter(|m| m.is_fast()).map(|m| Subject::Mechanism(m.mechanism));
        signs.exclude(fast.collect());
        let mode = route::entry_mode(self.atlas, &signs, &reading);
        let path = self.path(&reading, &signs, mode);
        let proven = measurement::earliest(self.atlas, &measured);
        let suspects = suspects::first_checks(self.atlas, &signs, mode, proven, FIRST_CHECKS);
        let references = references(mode, path);
        let mut conclusion = SkillConclusion {
            entry_mode: Some(mode),
            activated_subcapabilities: references.iter().map(|r| Worded::Known(SubCapability::from(*r))).collect(),
            reference_files_consulted: references,
            is_tikv_side: Worded::Known(self.side(&reading, &signs, mode)),
            scope: Worded::Known(reading.places.first_scope().map_or(Scope::Unknown, |(scope, _)| scope)),
            path: path.into(),
            earliest_proven_bottleneck: proven.map(|ix| self.atlas[ix].id.clone()).unwrap_or_default(),
            key_evidence: measured.iter().map(|m| m.cite(self.atlas, &text)).collect(),
            missing_evidence: suspects.iter().flat_map(|ix| suspects::needed_evidence(self.atlas, *ix)).collect(),
            uncertainty_statement: String::new(),
            provisional_conclusion: String::new(),
            ..SkillConclusion::default()
        };
        conclusion.uncertainty_statement = uncertainty(proven.is_some(), measured.len());
        conclusion.provisional_conclusion = self.prose(mode, proven, &signs, &suspects);
        conclusion
    }

    fn signs(&self, reading: &Reading) -> Signs {
        let mut signs = Signs::default();
        for claim in &reading.claims.claims {
            let list = match claim.role {
                ClaimRole::RuledOut => &mut signs.excluded,
                ClaimRole::Retracted => continue,
                _ => &mut signs.reported,
            };
            if !list.contains(&claim.subject) {
                list.push(claim.subject);
            }
        }
        signs.reported.retain(|subject| !signs.excluded.contains(subject));
        signs
    }

    fn side(&self, reading: &Reading, signs: &Signs, mode: EntryMode) -> TikvSide {
        if let Some((side, _)) = reading.places.side {
            return side;
        }
        if mode == EntryMode::NotTikvSlowDiagnosis {
            return TikvSide::No;
        }
        let on_tikv = signs.reported.iter().any(|subject| match subject {
            Subject::Mechanism(ix) => self.atlas[*ix].is_tikv_side == TikvSide::Yes,
            Subject::Family(_) => false,
        });
        if on_tikv { TikvSide::Yes } else { TikvSide::Unknown }
    }

    /// The path, as far as the text says.
    fn path(&self, reading: &Reading, signs: &Signs, mode: EntryMode) -> Option<Path> {
        if mode == EntryMode::NotTikvSlowDiagnosis {
            return Some(Path::Upstream);
        }
        if mode == EntryMode::SnapshotBacklog {
            return Some(Path::Snapshot);
        }
        let named = reading.places.path.map(|(path, _)| path);
        let reported = signs.reported.iter().filter_map(|subject| match subject {
            Subject::Mechanism(ix) => Some(self.atlas[*ix].path),
            Subject::Family(_) => None,
        });
        let slowed: Vec<Path> = reported.filter(|path| !matches!(path, Path::Background | Path::Upstream)).collect();
        let has = |path| slowed.contains(&path);
        match named {
            Some(path) => Some(path),
            None if has(Path::Read) && has(Path::Write) => Some(Path::ReadWrite),
            None => slowed.first().copied(),
        }
    }

    /// The conclusion in words. It lists possibilities as such, so that no reader takes one for a finding.
    fn prose(&self, mode: EntryMode, proven: Option<MechanismIx>, signs: &Signs, suspects: &[MechanismIx]) -> String {
        let names = |ids: Vec<&str>| ids.join(" / ");
        let mut sentences = vec![match proven {
            Some(ix) => {
                format!("The ticket's own measurements prove `{}`: {}.", self.atlas[ix].id, self.atlas[ix].title)
            }
            None => "Nothing is proven from the text alone.".to_owned(),
        }];
        sentences.push(format!("Start on the route `{mode}` and read {}.", mode.reference()));
        let reported: Vec<&str> = signs.reported.iter().map(|subject| self.name(*subject)).collect();
        if !reported.is_empty() {
            sentences.push(format!("The ticket possibly reports {}.", names(reported)));
        }
        let ids: Vec<&str> = suspects.iter().map(|ix| self.atlas[*ix].id.as_str()).collect();
        if !ids.is_empty() {
            sentences.push(format!("Possible causes to check first are {}.", names(ids)));
        }
        sentences.join(" ")
    }

    fn name(&self, subject: Subject) -> &str {
        match subject {
            Subject::Mechanism(ix) => &self.atlas[ix].id,
            Subject::Family(family) => self.atlas.family_name(family),
        }
    }
}

/// The reference files of a route: the cross-cutting checks, the route's own file, and the path's.
fn references(mode: EntryMode, path: Option<Path>) -> Vec<Reference> {
    let of_path = match path {
        Some(Path::Read) => &[Reference::ReadPath][..],
        Some(Path::Write) => &[Reference::WritePath],
        Some(Path::ReadWrite) => &[Reference::ReadPath, Reference::WritePath],
        _ => &[],
    };
    let mut references = vec![Reference::CrossCutting, mode.reference()];
    references.extend_from_slice(of_path);
    references.sort();
    references.dedup();
    references
}

fn uncertainty(is_proven: bool, measured: usize) -> String {
    let seen = match measured {
        0 => "The text reports no measurement of a stage".to_owned(),
        1 => "The text reports one measurement of a stage".to_owned(),
        count => format!("The text reports {count} measurements of stages"),
    };
    let rest = if is_proven {
        "What lies upstream of it is open until the listed evidence is read."
    } else {
        "Every mechanism named here is a possibility to check, not a finding."
    };
    format!("Only the ticket's text was read: no metrics, no logs. {seen}. {rest}")
}
