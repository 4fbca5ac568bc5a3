//! A run that lies open for review, with its casebook: everything that pages are made of.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hindcast_case::{Case, FinalHumanConclusion, IncidentId, MAX_BYTES, MatchLevel, WindowReview};
use hindcast_replay::{Leak, LeakCheck, question};
use hindcast_report::{StoredRow, StoredRun};
use hindcast_review::{
    Entry, Opinion, Order, Queue, Review, ReviewBook, ReviewError, Signature, Waiting, conclusion_mark, opinions_of,
};
use hindcast_runner::{Record, ReplayStore};
use hindcast_skill::Question;
use hindcast_transcript::Transcript;
use hindcast_verdict::{Comparer, Verdict};
use rayon::prelude::*;

use crate::filter::Filter;

/// The largest transcript that is shown.
const MAX_TRANSCRIPT: u64 = 64 * 1024 * 1024;

/// A run on a reviewer's desk.
#[derive(Debug)]
pub struct Desk {
    run: StoredRun,
    book: ReviewBook,
    queue: Queue,
    opinions: BTreeMap<String, Vec<Opinion>>,
    comparer: Comparer,
    reviewer: String,
}

/// One case with all that a reviewer looks at.
pub(crate) struct Sheet {
    pub(crate) id: IncidentId,
    /// As the run judges it.
    pub(crate) case: Case,
    /// The level that the run recorded.
    pub(crate) level: MatchLevel,
    /// The levels of all repeats, where there are several.
    pub(crate) repeats: Vec<MatchLevel>,
    /// The judgement as it is reached today, with its steps.
    pub(crate) verdict: Verdict,
    /// What the skill saw.
    pub(crate) question: Question,
    pub(crate) leak: Leak,
    /// The windows as the form shows them: as the last decision on this conclusion left them.
    pub(crate) windows: Vec<WindowReview>,
    /// Whether the casebook tells another incident or another conclusion of the engineers than the run was made with.
    pub(crate) is_outdated: bool,
    /// The version of the casebook's file that is looked at.
    pub(crate) version: String,
    /// All that was decided on the incident, the latest last.
    pub(crate) history: Vec<Entry>,
    /// The last decision that was not taken back.
    pub(crate) decided: Option<Entry>,
    pub(crate) opinions: Vec<Opinion>,
    /// What the replay took; none for the built-in skill.
    pub(crate) record: Option<Record>,
    pub(crate) has_transcript: bool,
}

impl Sheet {
    /// The decision that stands on this conclusion.
    pub(crate) fn decided(&self) -> Option<&Entry> {
        self.decided.as_ref().filter(|entry| entry.conclusion == conclusion_mark(&self.case))
    }
}

impl Desk {
    /// Opens a finished run of this casebook. `comparer` explains the verdicts, `reviewer` is who decides.
    #[must_use]
    pub fn new(
        run: StoredRun,
        casebook: &Path,
        opinions: Vec<Opinion>,
        comparer: Comparer,
        reviewer: impl Into<String>,
    ) -> Self {
        let opinions = opinions_of(opinions);
        let queue = Queue::new(&run, run.previous().as_ref(), &opinions, |id| read_case(&run.case(id)));
        Self { book: ReviewBook::new(casebook), run, queue, opinions, comparer, reviewer: reviewer.into() }
    }

    pub(crate) fn run(&self) -> &StoredRun {
        &self.run
    }

    /// Cases whose replay failed: there is nothing to decide on them.
    pub(crate) fn failed(&self) -> usize {
        self.run.cases().filter(|row| row.failed.is_some()).count()
    }

    pub(crate) fn comparer(&self) -> &Comparer {
        &self.comparer
    }

    pub(crate) fn reviewer(&self) -> &str {
        &self.reviewer
    }

    pub(crate) fn standing(&self) -> Result<BTreeMap<String, Entry>, ReviewError> {
        self.book.standing()
    }

    /// Decided verdicts, and all.
    pub(crate) fn progress(&self, standing: &BTreeMap<String, Entry>) -> (usize, usize) {
        let all = self.queue.ordered(standing, Order::Incident);
        (all.iter().filter(|one| one.is_decided()).count(), all.len())
    }

    /// The verdicts that a filter takes, in its order.
    pub(crate) fn select<'a>(&'a self, filter: &Filter, standing: &'a BTreeMap<String, Entry>) -> Vec<Waiting<'a>> {
        let mut waiting = self.queue.ordered(standing, filter.order);
        waiting.retain(|one| filter.takes(one));
        let terms = filter.terms();
        if terms.is_empty() {
            return waiting;
        }
        // Cases are read anew for a search: holding them would hold the casebook.
        waiting.into_par_iter().filter(|one| self.holds(one, &terms)).collect()
    }

    fn holds(&self, one: &Waiting<'_>, terms: &[String]) -> bool {
        let Some(case) = IncidentId::parse(&one.row.incident_id).and_then(|id| read_case(&self.run.case(&id))) else {
            return false;
        };
        let (incident, human, skill) = (&case.canonical_incident, &case.final_human_conclusion, &case.skill_conclusion);
        let mut text = [
            case.incident_id.as_str(),
            &case.initial_symptom,
            &incident.title,
            &incident.description_text,
            &incident.cluster_id,
            &incident.l2_assignee,
            &incident.assignee_or_l3,
            &human.owner_final_comment,
            &human.structured_conclusion,
            &skill.provisional_conclusion,
            &skill.earliest_proven_bottleneck,
            &skill.uncertainty_statement,
            &one.row.human_bottleneck,
            one.decided.map_or("", |entry| &entry.reason),
        ]
        .join("\n");
        for list in [&skill.key_evidence, &case.comparison_notes, &case.improvement_suggestions] {
            for line in list {
                text.push('\n');
                text.push_str(line);
            }
        }
        let text = text.to_lowercase();
        terms.iter().all(|term| text.contains(term.as_str()))
    }

    /// A case of the run; none where the run has no verdict on it.
    pub(crate) fn sheet(&self, id: &IncidentId) -> Result<Option<Sheet>, ReviewError> {
        let Some(case) = read_case(&self.run.case(id)) else { return Ok(None) };
        let Some(level) = case.match_level else { return Ok(None) };
        // The version first: a change that comes in between is then noticed as a conflict.
        let version = self.book.version(id)?;
        let history: Vec<Entry> =
            self.book.history()?.into_iter().filter(|entry| entry.incident_id == id.as_str()).collect();
        let decided = self.standing()?.remove(id.as_str());
        let verdict = self.comparer.compare(&case);
        let (question, _) = question(&case);
        let reader = &self.comparer.reader;
        let leak = LeakCheck::new(&reader.atlas, &reader.texts).check(&question, &case.final_human_conclusion);
        let store = self.replays();
        let transcript = store.transcript(id, 1);
        let stored = read_case(&self.book.path(id));
        let mark = conclusion_mark(&case);
        let opinions = self.opinions.get(id.as_str()).cloned().unwrap_or_default();
        let of_it = self.run.rows.iter().filter(|row| row.incident_id == id.as_str());
        let repeats: Vec<MatchLevel> = of_it.filter_map(StoredRow::level).collect();
        Ok(Some(Sheet {
            level,
            repeats: if repeats.len() > 1 { repeats } else { Vec::new() },
            is_outdated: stored.as_ref().is_some_and(|stored| !is_same_incident(stored, &case)),
            windows: windows(stored, &case, &mark),
            opinions: opinions.into_iter().filter(|opinion| opinion.conclusion == mark).collect(),
            record: store.get(id, 1),
            has_transcript: transcript.exists(),
            id: id.clone(),
            verdict,
            question,
            leak,
            version,
            history,
            decided,
            case,
        }))
    }

    /// What the agent wrote in the first repeat.
    pub(crate) fn transcript(&self, id: &IncidentId) -> Option<Transcript> {
        let path = self.replays().transcript(id, 1);
        let size = std::fs::metadata(&path).ok()?.len();
        if size > MAX_TRANSCRIPT {
            return None;
        }
        Some(hindcast_transcript::read(&std::fs::read(path).ok()?))
    }

    /// Keeps a decision on a case of the run; `seen` is the version that the reviewer looked at.
    pub(crate) fn decide(&self, id: &IncidentId, seen: &str, review: &Review) -> Result<String, ReviewError> {
        let path = self.run.case(id);
        let judged = read_case(&path).ok_or(ReviewError::Unusable(path))?;
        self.book.decide(&judged, seen, review, &self.signature())
    }

    /// Takes the last decision on an incident back.
    pub(crate) fn undo(&self, id: &IncidentId) -> Result<String, ReviewError> {
        self.book.undo(id, &self.signature())
    }

    /// A decision is about the present by nature; it stands beside the case, not in it.
    fn signature(&self) -> Signature {
        Signature { reviewer: self.reviewer.clone(), time: jiff::Timestamp::now() }
    }

    fn replays(&self) -> ReplayStore {
        ReplayStore::new(self.run.dir.join("replays"))
    }
}

/// The windows as a decision on this conclusion left them in the casebook, else as the run reviewed them.
fn windows(stored: Option<Case>, case: &Case, mark: &str) -> Vec<WindowReview> {
    let decided = stored.filter(|stored| stored.match_level.is_some() && conclusion_mark(stored) == mark);
    let theirs = decided.map(|stored| stored.window_reviews).unwrap_or_default();
    let labels = |list: &[WindowReview]| list.iter().map(|window| window.label.clone()).collect::<Vec<_>>();
    if labels(&theirs) == labels(&case.window_reviews) { theirs } else { case.window_reviews.clone() }
}

/// Whether two cases tell the same incident with the same conclusion of the engineers. Their status may differ: a review sets it.
fn is_same_incident(one: &Case, other: &Case) -> bool {
    let human = |case: &Case| FinalHumanConclusion { status: None, ..case.final_human_conclusion.clone() };
    one.initial_symptom == other.initial_symptom
        && one.canonical_incident == other.canonical_incident
        && human(one) == human(other)
}

/// A case file; none when it can't be read.
fn read_case(path: &PathBuf) -> Option<Case> {
    let size = std::fs::metadata(path).ok()?.len();
    if size > u64::try_from(MAX_BYTES).ok()? {
        return None;
    }
    hindcast_case::read(&std::fs::read(path).ok()?).value
}
