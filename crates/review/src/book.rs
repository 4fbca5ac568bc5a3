//! The case files and the log beside them.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use hindcast_case::{Case, IncidentId, Vocabulary};
use hindcast_files::write_whole;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::decision::{Review, apply, take_over};

/// The reviews of a casebook.
#[derive(Debug, Clone)]
pub struct ReviewBook {
    casebook: PathBuf,
}

/// Who decides, and when. The log keeps whole seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Who.
    pub reviewer: String,
    /// When.
    pub time: jiff::Timestamp,
}

impl Signature {
    fn time_in_seconds(&self) -> String {
        self.time.round(jiff::Unit::Second).unwrap_or(self.time).to_string()
    }
}

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The incident.
    pub incident_id: String,
    /// Who decided.
    pub reviewer: String,
    /// When, as RFC 3339 with a zone.
    pub time: String,
    /// What: accept, override, human_unclear, undo.
    pub decision: String,
    /// The verdict that was judged.
    #[serde(default)]
    pub judged: String,
    /// The verdict that holds now.
    #[serde(default)]
    pub level: String,
    /// Why.
    #[serde(default)]
    pub reason: String,
    /// By what the conclusion is known that was judged; see [`conclusion_mark`].
    #[serde(default)]
    pub conclusion: String,
    /// The windows whose review was changed.
    #[serde(default)]
    pub windows: Vec<String>,
    /// The case file before.
    pub before: String,
    /// The version of the case file after.
    pub version: String,
}

/// Why a decision could not be kept. The casebook is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// Somebody changed the case since it was looked at.
    #[error(
        "{path} was changed since you looked at it (it is version {found}, you saw {seen}); look again, nothing was written"
    )]
    Conflict {
        /// The case file.
        path: PathBuf,
        /// The version that was seen.
        seen: String,
        /// The version that is there.
        found: String,
    },
    /// The case file holds no case.
    #[error("{0} is no case that can be read; see hindcast check")]
    Unusable(PathBuf),
    /// There is nothing to undo.
    #[error("no decision on {0} can be undone")]
    NothingToUndo(IncidentId),
    /// A file can't be read or written.
    #[error("{path}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl ReviewBook {
    /// The reviews of this casebook.
    #[must_use]
    pub fn new(casebook: &Path) -> Self {
        Self { casebook: casebook.to_owned() }
    }

    /// The case file of an incident.
    #[must_use]
    pub fn path(&self, id: &IncidentId) -> PathBuf {
        self.casebook.join(format!("{id}.json"))
    }

    /// The version of a case file: it changes with every byte.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn version(&self, id: &IncidentId) -> Result<String, ReviewError> {
        let path = self.path(id);
        std::fs::read(&path).map(|bytes| version_of(&bytes)).map_err(|source| ReviewError::Io { path, source })
    }

    /// Writes a decision on a judged case into the casebook. `seen` is the version that the reviewer looked at. Gives the new
    /// version.
    ///
    /// # Errors
    /// When the case was changed meanwhile, or a file can't be read or written; then nothing is written.
    pub fn decide(&self, judged: &Case, seen: &str, review: &Review, by: &Signature) -> Result<String, ReviewError> {
        let _lock = self.lock()?;
        let (before, mut case) = self.read_if(&judged.incident_id, seen)?;
        take_over(&mut case, judged);
        let applied = apply(&mut case, review);
        let after = case.to_json();
        let entry = Entry {
            incident_id: judged.incident_id.to_string(),
            reviewer: by.reviewer.clone(),
            time: by.time_in_seconds(),
            decision: applied.decision.to_owned(),
            judged: judged.match_level.map_or(String::new(), |level| level.as_str().to_owned()),
            level: case.match_level.map_or(String::new(), |level| level.as_str().to_owned()),
            reason: applied.reason,
            conclusion: conclusion_mark(judged),
            windows: applied.windows,
            before,
            version: version_of(after.as_bytes()),
        };
        self.keep(&judged.incident_id, &after, &entry)
    }

    /// Takes the last decision on a case back, if the case is as that decision left it.
    ///
    /// # Errors
    /// When there is none, or the case was changed since.
    pub fn undo(&self, id: &IncidentId, by: &Signature) -> Result<String, ReviewError> {
        let _lock = self.lock()?;
        let of_it = self.log()?.into_iter().filter(|entry| entry.incident_id == id.as_str());
        let last = standing(of_it).remove(id.as_str()).ok_or_else(|| ReviewError::NothingToUndo(id.clone()))?;
        let (before, _) = self.read_if(id, &last.version)?;
        let entry = Entry {
            incident_id: id.to_string(),
            reviewer: by.reviewer.clone(),
            time: by.time_in_seconds(),
            decision: "undo".to_owned(),
            judged: String::new(),
            level: String::new(),
            reason: String::new(),
            conclusion: String::new(),
            windows: Vec::new(),
            before,
            version: version_of(last.before.as_bytes()),
        };
        self.keep(id, &last.before, &entry)
    }

    /// Every decision, in order. Lines that can't be read are left out.
    ///
    /// # Errors
    /// When the log is there and can't be read.
    pub fn log(&self) -> Result<Vec<Entry>, ReviewError> {
        self.entries(|_| ())
    }

    /// Every decision, in order, without what the cases were before.
    ///
    /// # Errors
    /// As [`ReviewBook::log`].
    pub fn history(&self) -> Result<Vec<Entry>, ReviewError> {
        self.entries(|entry| entry.before = String::new())
    }

    /// The lines of the log, each made smaller before the next one is read.
    fn entries(&self, shrink: impl Fn(&mut Entry)) -> Result<Vec<Entry>, ReviewError> {
        let path = self.log_path();
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(ReviewError::Io { path, source }),
        };
        let mut entries = Vec::new();
        // As bytes: a line that is no text is one that can't be read, too.
        for line in BufReader::new(file).split(b'\n') {
            let line = line.map_err(|source| ReviewError::Io { path: path.clone(), source })?;
            if let Ok(mut entry) = serde_json::from_slice(&line) {
                shrink(&mut entry);
                entries.push(entry);
            }
        }
        Ok(entries)
    }

    /// The decisions that stand: the last of each incident, unless it was taken back. What the cases were before is left out.
    ///
    /// # Errors
    /// As [`ReviewBook::log`].
    pub fn standing(&self) -> Result<BTreeMap<String, Entry>, ReviewError> {
        self.history().map(standing)
    }

    fn log_path(&self) -> PathBuf {
        self.casebook.join(".hindcast").join("reviews.jsonl")
    }

    /// One writer at a time, over all programs.
    fn lock(&self) -> Result<File, ReviewError> {
        let dir = self.casebook.join(".hindcast");
        let path = dir.join("reviews.lock");
        let locked = std::fs::create_dir_all(&dir)
            .and_then(|()| OpenOptions::new().create(true).truncate(false).write(true).open(&path))
            .and_then(|file| file.lock().map(|()| file));
        locked.map_err(|source| ReviewError::Io { path, source })
    }

    fn read_if(&self, id: &IncidentId, seen: &str) -> Result<(String, Case), ReviewError> {
        let path = self.path(id);
        let bytes = std::fs::read(&path).map_err(|source| ReviewError::Io { path: path.clone(), source })?;
        let found = version_of(&bytes);
        if found != seen {
            return Err(ReviewError::Conflict { path, seen: seen.to_owned(), found });
        }
        let case = hindcast_case::read(&bytes).value.ok_or(ReviewError::Unusable(path))?;
        Ok((String::from_utf8_lossy(&bytes).into_owned(), case))
    }

    /// The log first: a decision that the log doesn't know could not be undone. If the case can't be written, the log forgets
    /// it again.
    fn keep(&self, id: &IncidentId, text: &str, entry: &Entry) -> Result<String, ReviewError> {
        let log = self.log_path();
        let mut line = serde_json::to_string(entry).expect("an entry is written as JSON");
        line.push('\n');
        let append = |mut line: String| -> io::Result<(File, u64)> {
            let mut file = OpenOptions::new().create(true).read(true).append(true).open(&log)?;
            let before = file.metadata()?.len();
            // What a killed program left unfinished must not swallow this line.
            if before > 0 && !ends_with_newline(&mut file)? {
                line.insert(0, '\n');
            }
            file.write_all(line.as_bytes())?;
            Ok((file, before))
        };
        let (file, before) = append(line).map_err(|source| ReviewError::Io { path: log.clone(), source })?;
        let path = self.path(id);
        write_whole(&path, text.as_bytes()).map_err(|source| {
            // What stood there before is more than an error on top of an error.
            let _ = file.set_len(before);
            ReviewError::Io { path: path.clone(), source }
        })?;
        Ok(entry.version.clone())
    }
}

fn ends_with_newline(file: &mut File) -> io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// The last decision of each incident that was not taken back.
fn standing(entries: impl IntoIterator<Item = Entry>) -> BTreeMap<String, Entry> {
    let mut stacks: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    for entry in entries {
        let stack = stacks.entry(entry.incident_id.clone()).or_default();
        if entry.decision == "undo" {
            stack.pop();
        } else {
            stack.push(entry);
        }
    }
    stacks.into_iter().filter_map(|(id, mut stack)| Some((id, stack.pop()?))).collect()
}

/// By what a skill's conclusion is known: two runs that concluded the same have the same mark.
#[must_use]
pub fn conclusion_mark(judged: &Case) -> String {
    version_of(judged.skill_conclusion.to_json().as_bytes())
}

fn version_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use hindcast_case::{Assessment, HumanStatus, MatchLevel, MismatchType, WindowReview};

    use super::*;
    use crate::decision::{Decision, WindowEdit};

    fn by(reviewer: &str) -> Signature {
        Signature { reviewer: reviewer.to_owned(), time: "2026-01-08T10:00:00Z".parse().expect("a time") }
    }

    fn book() -> (tempfile::TempDir, ReviewBook, Case) {
        let dir = tempfile::tempdir().expect("a folder");
        let text = r#"{"incident_id": "GTOC-1", "final_human_conclusion": {"status": "clear", "owner_final_comment": "the disk hung"}}"#;
        let case = hindcast_case::read(text.as_bytes()).value.expect("a case");
        std::fs::write(dir.path().join("GTOC-1.json"), case.to_json()).expect("written");
        let mut judged = case;
        judged.match_level = Some(MatchLevel::Mismatched);
        judged.mismatch_type = vec![MismatchType::WrongBottleneck];
        judged.final_human_conclusion.owner_final_comment = "of the run; it stays there".to_owned();
        let book = ReviewBook::new(dir.path());
        (dir, book, judged)
    }

    fn stored(book: &ReviewBook, id: &IncidentId) -> Case {
        hindcast_case::read(&std::fs::read(book.path(id)).expect("read")).value.expect("a case")
    }

    #[test]
    fn a_decision_is_in_the_case_and_who_made_it_beside_it() {
        let (_dir, book, judged) = book();
        let id = &judged.incident_id;
        let seen = book.version(id).expect("a version");
        let decision = Decision::Override {
            level: MatchLevel::PartiallyMatched,
            mismatch: vec![MismatchType::SymptomNamedAsCause],
            reason: "next to the cause".to_owned(),
        };
        let version = book.decide(&judged, &seen, &decision.into(), &by("chen")).expect("kept");
        assert_eq!(version, book.version(id).expect("a version"));
        let case = stored(&book, id);
        assert_eq!(case.match_level, Some(MatchLevel::PartiallyMatched));
        assert_eq!(case.comparison_notes, ["Review: partially_matched instead: next to the cause"]);
        assert_eq!(
            case.final_human_conclusion.owner_final_comment, "the disk hung",
            "the engineers' half is the casebook's"
        );
        let text = std::fs::read_to_string(book.path(id)).expect("read");
        assert!(!text.contains("chen"), "the reviewer is no part of the user's schema");
        let entry = &book.standing().expect("a log")["GTOC-1"];
        assert_eq!(
            (entry.reviewer.as_str(), entry.judged.as_str(), entry.level.as_str()),
            ("chen", "mismatched", "partially_matched")
        );
    }

    #[test]
    fn no_update_is_lost() {
        let (_dir, book, judged) = book();
        let seen = book.version(&judged.incident_id).expect("a version");
        book.decide(&judged, &seen, &Decision::Accept.into(), &by("chen")).expect("kept");
        let before = stored(&book, &judged.incident_id);
        let late = Decision::HumanUnclear { reason: "two owners".to_owned() };
        let error = book.decide(&judged, &seen, &late.into(), &by("lin")).expect_err("a conflict");
        assert!(matches!(error, ReviewError::Conflict { .. }), "{error}");
        assert_eq!(stored(&book, &judged.incident_id), before);
        assert_eq!(book.log().expect("a log").len(), 1);
    }

    #[test]
    fn decisions_are_taken_back_one_by_one() {
        let (_dir, book, judged) = book();
        let id = &judged.incident_id;
        let first = std::fs::read_to_string(book.path(id)).expect("read");
        let version = book
            .decide(&judged, &book.version(id).expect("a version"), &Decision::Accept.into(), &by("chen"))
            .expect("kept");
        let second = std::fs::read_to_string(book.path(id)).expect("read");
        let unclear = Decision::HumanUnclear { reason: String::new() };
        book.decide(&judged, &version, &unclear.into(), &by("chen")).expect("kept");
        assert_eq!(stored(&book, id).final_human_conclusion.status, Some(HumanStatus::Unclear));
        book.undo(id, &by("chen")).expect("undone");
        assert_eq!(std::fs::read_to_string(book.path(id)).expect("read"), second);
        book.undo(id, &by("chen")).expect("undone");
        assert_eq!(std::fs::read_to_string(book.path(id)).expect("read"), first);
        assert!(matches!(book.undo(id, &by("chen")), Err(ReviewError::NothingToUndo(_))));
        assert!(book.standing().expect("a log").is_empty());
    }

    #[test]
    fn a_case_that_can_not_be_written_leaves_no_decision_behind() {
        let (_dir, book, judged) = book();
        let entry = Entry {
            incident_id: "GTOC-1".to_owned(),
            reviewer: "chen".to_owned(),
            time: String::new(),
            decision: "accept".to_owned(),
            judged: String::new(),
            level: String::new(),
            reason: String::new(),
            conclusion: String::new(),
            windows: Vec::new(),
            before: String::new(),
            version: String::new(),
        };
        let seen = book.version(&judged.incident_id).expect("a version");
        book.decide(&judged, &seen, &Decision::Accept.into(), &by("lin")).expect("kept");
        // A folder stands where the case would be written.
        std::fs::create_dir(book.path(&IncidentId::parse("GTOC-2").expect("an id"))).expect("made");
        book.keep(&IncidentId::parse("GTOC-2").expect("an id"), "text", &entry).expect_err("a folder");
        assert_eq!(book.log().expect("a log").len(), 1);
    }

    #[test]
    fn what_is_written_into_a_window_stays_with_the_decision() {
        let (_dir, book, mut judged) = book();
        judged.window_reviews = ["window-1", "window-2"]
            .map(|label| WindowReview {
                label: label.to_owned(),
                assessment: Some(Assessment::Missed),
                notes: vec!["The skill says nothing of this window.".to_owned()],
                ..WindowReview::default()
            })
            .to_vec();
        let mine = WindowEdit { index: 1, assessment: Some(Assessment::Agrees), notes: vec!["It does.".to_owned()] };
        let same = WindowEdit {
            index: 0,
            assessment: Some(Assessment::Missed),
            notes: judged.window_reviews[0].notes.clone(),
        };
        let none = WindowEdit { index: 7, assessment: None, notes: Vec::new() };
        let review = Review { decision: Decision::Accept, windows: vec![mine, same, none] };
        let seen = book.version(&judged.incident_id).expect("a version");
        book.decide(&judged, &seen, &review, &by("chen")).expect("kept");
        let case = stored(&book, &judged.incident_id);
        assert_eq!(case.window_reviews[0], judged.window_reviews[0]);
        assert_eq!(case.window_reviews[1].assessment, Some(Assessment::Agrees));
        assert_eq!(case.window_reviews[1].notes, ["It does."]);
        assert_eq!(case.match_level, Some(MatchLevel::Mismatched), "windows never change the verdict");
        assert_eq!(book.standing().expect("a log")["GTOC-1"].windows, ["window-2"]);
    }

    #[test]
    fn a_log_that_is_broken_swallows_no_decision() {
        let (dir, book, judged) = book();
        std::fs::create_dir(dir.path().join(".hindcast")).expect("made");
        std::fs::write(
            dir.path().join(".hindcast/reviews.jsonl"),
            b"{\"incident_id\": \"GTOC-1\"}\n\xff\xfe\n{\"incident",
        )
        .expect("written");
        let seen = book.version(&judged.incident_id).expect("a version");
        book.decide(&judged, &seen, &Decision::Accept.into(), &by("chen")).expect("kept");
        assert_eq!(book.standing().expect("a log")["GTOC-1"].reviewer, "chen");
        book.undo(&judged.incident_id, &by("chen")).expect("undone");
        assert!(book.standing().expect("a log").is_empty());
    }

    #[test]
    fn one_writer_at_a_time() {
        let (_dir, book, judged) = book();
        let seen = book.version(&judged.incident_id).expect("a version");
        let kept: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|n| {
                    let (book, judged, seen) = (&book, &judged, &seen);
                    scope.spawn(move || {
                        let decision = Decision::HumanUnclear { reason: format!("reason {n}") };
                        usize::from(book.decide(judged, seen, &decision.into(), &by("r")).is_ok())
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!((kept, book.log().expect("a log").len()), (1, 1), "the others saw a conflict");
    }
}
