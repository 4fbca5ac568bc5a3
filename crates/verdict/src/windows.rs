//! The windows of both sides, aligned; structured evidence beside the verdict, never part of it.

use hindcast_atlas::Subject;
use hindcast_case::{AnalysisWindow, Assessment, Case, Moment, Span, WindowReview};

use crate::compare::Comparer;
use crate::conclusion::Conclusion;

/// A sentence that speaks of one window, by label or by time of day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextWindow<'a> {
    /// The label, as `window-1`.
    pub label: Option<String>,
    /// Start and end as seconds of the day.
    pub times: Option<(i64, i64)>,
    /// The sentence.
    pub text: &'a str,
    /// Where it stands.
    pub span: Span,
}

/// Reviews every window of the engineers, then the skill's own.
pub(crate) fn review(comparer: &Comparer, case: &Case, skill: &Conclusion) -> Vec<WindowReview> {
    let human = &case.final_human_conclusion.analysis_windows;
    if human.is_empty() {
        return Vec::new();
    }
    let conclusion = &case.skill_conclusion;
    let texts = std::iter::once(&conclusion.provisional_conclusion).chain(&conclusion.key_evidence);
    let windows: Vec<TextWindow<'_>> = texts.flat_map(|text| windows_in(text)).collect();
    let mut reviews = Vec::new();
    for window in human {
        let aligned: Vec<&TextWindow<'_>> = windows.iter().filter(|skill| aligns(window, skill)).collect();
        reviews.push(assess(comparer, window, &aligned, skill, human.len()));
    }
    for extra in windows.iter().filter(|skill| !human.iter().any(|window| aligns(window, skill))) {
        reviews.push(WindowReview {
            label: extra.label.clone().unwrap_or_else(|| format!("skill-{}", reviews.len() + 1 - human.len())),
            skill_summary: extra.text.to_owned(),
            assessment: Some(Assessment::Extra),
            notes: vec!["Only the skill speaks of this window.".to_owned()],
            ..WindowReview::default()
        });
    }
    reviews
}

fn assess(
    comparer: &Comparer,
    window: &AnalysisWindow,
    aligned: &[&TextWindow<'_>],
    skill: &Conclusion,
    total: usize,
) -> WindowReview {
    let theirs = subject_of(comparer, &window.inferred_bottleneck).or_else(|| subject_of(comparer, &window.summary));
    let summary = aligned.iter().map(|skill| skill.text).collect::<Vec<_>>().join(" ");
    let whole = skill.bottleneck.map(|stated| stated.value);
    let own = if aligned.is_empty() { whole } else { subject_of(comparer, &summary).or(whole) };
    let same = theirs.is_some_and(|theirs| own.is_some_and(|own| is_same(comparer, own, theirs)));
    let (assessment, note) = match (theirs, own) {
        (None, _) => (Assessment::Unclear, "The engineers name no mechanism for this window.".to_owned()),
        (_, None) => (Assessment::Missed, "The skill names no mechanism that fits this window.".to_owned()),
        _ if aligned.is_empty() && total > 1 && same => (
            Assessment::NotDistinguished,
            "The skill's one conclusion fits this window but does not tell the windows apart.".to_owned(),
        ),
        _ if aligned.is_empty() && total > 1 => {
            (Assessment::Missed, "The skill says nothing of this window.".to_owned())
        }
        _ if same => (Assessment::Agrees, "Both name the same mechanism.".to_owned()),
        (Some(theirs), Some(own)) => {
            let names = (comparer.reader.subject_name(theirs), comparer.reader.subject_name(own));
            (Assessment::Differs, format!("The engineers name `{}`, the skill `{}`.", names.0, names.1))
        }
    };
    WindowReview {
        label: window.label.clone(),
        start_time: window.start_time.clone(),
        end_time: window.end_time.clone(),
        human_summary: window.summary.clone(),
        skill_summary: summary,
        assessment: Some(assessment),
        notes: vec![note],
        ..WindowReview::default()
    }
}

fn subject_of(comparer: &Comparer, text: &str) -> Option<Subject> {
    let atlas = &comparer.reader.atlas;
    if let Some(resolved) = atlas.resolve(text.trim()) {
        return Some(Subject::Mechanism(resolved.mechanism()));
    }
    let claims = comparer.reader.claims(text);
    hindcast_text::bottleneck(atlas, &claims, None).map(|claim| claim.subject)
}

fn is_same(comparer: &Comparer, own: Subject, theirs: Subject) -> bool {
    let member = |family, ix| comparer.reader.atlas.family_members(family).contains(&ix);
    match (own, theirs) {
        (Subject::Mechanism(ix), Subject::Family(family)) => member(family, ix),
        _ => own == theirs,
    }
}

fn aligns(window: &AnalysisWindow, skill: &TextWindow<'_>) -> bool {
    if let Some(label) = &skill.label {
        return fold_label(label) == fold_label(&window.label);
    }
    let (Some((start, end)), Some(from), Some(to)) =
        (skill.times, time_of_day(&window.start_time), time_of_day(&window.end_time))
    else {
        return false;
    };
    // Touching ends are two windows, but a single moment counts as inside.
    start < to && from < end || start == end && from <= start && start <= to
}

fn time_of_day(moment: &Moment) -> Option<i64> {
    match moment {
        Moment::Zoned(at, _) | Moment::Local(at) => {
            Some(i64::from(at.hour()) * 3600 + i64::from(at.minute()) * 60 + i64::from(at.second()))
        }
        Moment::Empty | Moment::Text(_) => None,
    }
}

fn fold_label(label: &str) -> String {
    label.chars().filter(char::is_ascii_digit).collect()
}

/// The sentences of a text that name a window by label or by time.
#[must_use]
pub fn windows_in(text: &str) -> Vec<TextWindow<'_>> {
    let sentences = text.split_inclusive(['。', '\n', ';', '；']).flat_map(|part| part.split_inclusive(". "));
    let mut at = 0;
    let mut windows = Vec::new();
    for sentence in sentences {
        let trimmed = sentence.trim();
        let (label, times) = (label_in(trimmed), times_in(trimmed));
        if label.is_some() || times.is_some() {
            let start = at + (sentence.len() - sentence.trim_start().len());
            let span = Span::new(start, start + trimmed.len());
            windows.push(TextWindow { label, times, text: trimmed, span });
        }
        at += sentence.len();
    }
    windows
}

fn label_in(sentence: &str) -> Option<String> {
    let lower = sentence.to_ascii_lowercase();
    ["window-", "window ", "窗口 ", "窗口"].iter().find_map(|word| {
        let at = lower.find(word)? + word.len();
        let digits = lower[at..].bytes().take_while(u8::is_ascii_digit).count();
        (1..=3).contains(&digits).then(|| format!("window-{}", &lower[at..at + digits]))
    })
}

/// The first and last time of day in a sentence, as `13:47` or `13:47:50`.
fn times_in(sentence: &str) -> Option<(i64, i64)> {
    let mut times = Vec::new();
    for (at, _) in sentence.match_indices(':') {
        let before = sentence[..at].bytes().rev().take_while(u8::is_ascii_digit).count();
        let after = sentence[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let joined = sentence[..at - before].ends_with([':', '+', '.']);
        if (1..=2).contains(&before) && after == 2 && !joined {
            let hour: i64 = sentence[at - before..at].parse().ok()?;
            let minute: i64 = sentence[at + 1..at + 3].parse().ok()?;
            if hour < 24 && minute < 60 {
                times.push(hour * 3600 + minute * 60);
            }
        }
    }
    Some((*times.first()?, *times.last()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_labels_are_read_from_sentences() {
        assert_eq!(times_in("Between 03:25 and 03:30:15 it jitters"), Some((12_300, 12_600)));
        assert_eq!(times_in("at 2026-04-22T03:25:00+08:00"), Some((12_300, 12_300)));
        assert_eq!(times_in("ratio 1:2, no time"), None);
        assert_eq!(label_in("In window 2 the disk hangs").as_deref(), Some("window-2"));
    }
}
