//! Whether what a skill is shown gives the engineers' conclusion away.
//!
//! Each sentence of the inputs is weighed by what it does and whether it names the mechanism that the engineers concluded
//! with; sentences of the conclusion are looked for word by word. A weight is how sure the signal alone would make one; they
//! combine as independent evidence. The weights were set on planted leaks and clean tickets (`tests/leaks.rs`).

use std::collections::HashSet;

use hindcast_atlas::{Atlas, Form, Mention, Subject};
use hindcast_case::{FinalHumanConclusion, Span, StructuredConclusion};
use hindcast_skill::Question;
use hindcast_text::{ClaimRole, Claims, Move, Strength, TextReader, bottleneck, is_log_line, sentences};

/// From this score on a replay is called leaking.
pub const LEAKING: f64 = 0.5;

/// How much of each text is read.
const MAX_TEXT: usize = 128 * 1024;

/// Words in a row that count as the same wording, in English; in Chinese each character counts.
const WORDS: usize = 3;

/// Finds leaks.
#[derive(Debug)]
pub struct LeakCheck<'a> {
    atlas: &'a Atlas,
    texts: &'a TextReader,
}

/// How far the inputs give the conclusion away.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Leak {
    /// From 0, nothing, to 1, the conclusion itself.
    pub score: f64,
    /// What speaks for it, strongest first.
    pub signals: Vec<Signal>,
}

/// One passage that gives something away.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    /// What kind of passage.
    pub kind: SignalKind,
    /// How sure it alone would make one.
    pub weight: f64,
    /// The field of the question.
    pub field: &'static str,
    /// Where in the field.
    pub span: Span,
    /// The passage.
    pub passage: String,
}

/// Kinds of passages that give a conclusion away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SignalKind {
    /// Wording of the conclusion.
    Wording,
    /// A sentence that concludes with the same mechanism.
    SameConclusion,
    /// A sentence that concludes, with whatever.
    Conclusion,
    /// A sentence that calls the same mechanism the cause.
    SameCause,
    /// A sentence that tells how it was solved.
    Solution,
    /// The mechanism as a tag or id.
    Tag,
    /// A file or address whose name tells.
    Name,
    /// The mechanism, stated as a fact.
    Mention,
}

impl SignalKind {
    /// What a person reads.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wording => "has the conclusion's wording",
            Self::SameConclusion => "concludes the same",
            Self::Conclusion => "reads like a conclusion",
            Self::SameCause => "calls the same mechanism the cause",
            Self::Solution => "tells how it was solved",
            Self::Tag => "has the mechanism as a tag",
            Self::Name => "has a name that tells",
            Self::Mention => "names the mechanism",
        }
    }
}

impl Leak {
    /// The strongest passage and the score in one sentence; nothing where nothing was found.
    #[must_use]
    pub fn summary(&self) -> Option<String> {
        let signal = self.signals.first()?;
        let passage: String = signal.passage.chars().take(80).collect();
        Some(format!("{} {} (score {:.2}): {passage:?}", signal.field, signal.kind.as_str(), self.score))
    }

    /// Whether the replay is to stay out of headline figures.
    #[must_use]
    pub fn is_leaking(&self) -> bool {
        self.score >= LEAKING
    }
}

/// Endings of files that people attach to tickets.
const FILE_ENDINGS: [&str; 17] = [
    "png", "jpg", "jpeg", "gif", "webp", "svg", "pdf", "log", "txt", "md", "doc", "docx", "xlsx", "html", "zip", "tar",
    "gz",
];

/// Words that open a line of tags.
const TAG_LINES: [&str; 12] = [
    "label:",
    "labels:",
    "tag:",
    "tags:",
    "component:",
    "components:",
    "category:",
    "标签:",
    "标签：",
    "分类：",
    "组件：",
    "组件:",
];

/// The longest tag.
const MAX_TAG: usize = 60;

/// What the engineers concluded, prepared to be looked for.
struct Answer {
    /// The bottleneck, where the atlas knows it.
    subject: Option<Subject>,
    /// Runs of words of each sentence that names the cause, sorted.
    sentences: Vec<Vec<u64>>,
}

impl<'a> LeakCheck<'a> {
    /// A check that knows the words of an atlas.
    #[must_use]
    pub fn new(atlas: &'a Atlas, texts: &'a TextReader) -> Self {
        Self { atlas, texts }
    }

    /// Compares what a skill is shown with what the engineers concluded.
    #[must_use]
    pub fn check(&self, question: &Question, human: &FinalHumanConclusion) -> Leak {
        let answer = self.answer(human);
        if answer.subject.is_none() && answer.sentences.is_empty() {
            // Nobody concluded, so nothing can be given away.
            return Leak::default();
        }
        let mut signals = Vec::new();
        let links = question.clinic_links.iter().chain(&question.grafana_links);
        let links = links.map(|link| link.0.as_str()).collect::<Vec<_>>().join("\n");
        let fields = [
            ("canonical_incident.title", question.title.as_str()),
            ("canonical_incident.description_text", &question.description_text),
            ("initial_symptom", &question.initial_symptom),
            ("canonical_incident.grafana_links", &links),
        ];
        let mut seen: HashSet<&str> = HashSet::new();
        for (field, text) in fields {
            let text = &text[..text.floor_char_boundary(MAX_TEXT)];
            // The symptom repeats title and description; what stands twice gives nothing more away. Nor do lines of logs.
            let is_new = |span: &Span| {
                let sentence = &text[span.start..span.end];
                !is_log_line(sentence) && seen.insert(sentence)
            };
            let new: Vec<Span> = sentences(text).filter(is_new).collect();
            // What is left out in between is not read at all.
            for run in new.chunk_by(|one, next| next.start - one.end <= 2) {
                self.weigh(field, text, run, &answer, &mut signals);
            }
        }
        signals.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.span.start.cmp(&b.span.start)));
        // Of one kind, the strongest passage counts.
        let mut kinds = HashSet::new();
        let independent = signals.iter().filter(|signal| kinds.insert(signal.kind as u8));
        let doubt: f64 = independent.map(|signal| 1.0 - signal.weight).product();
        Leak { score: 1.0 - doubt, signals }
    }

    fn answer(&self, human: &FinalHumanConclusion) -> Answer {
        let text = &human.owner_final_comment;
        let text = &text[..text.floor_char_boundary(MAX_TEXT)];
        let mentions = self.texts.mentions(text);
        let structured = StructuredConclusion::parse(&human.structured_conclusion);
        let named = structured.and_then(|fields| self.atlas.resolve(&fields.bottleneck));
        let subject = named
            .map(|resolved| Subject::Mechanism(resolved.mechanism()))
            .or_else(|| bottleneck(self.atlas, &self.texts.claims(self.atlas, text), None).map(|claim| claim.subject));
        let names = |span: Span| mentions.iter().any(|m| span.overlaps(m.span) && self.is_answer(subject, m));
        let sentences = sentences(text)
            .filter(|span| names(*span) || Move::of(&text[span.start..span.end]).concludes())
            .map(|span| runs(&text[span.start..span.end]))
            .filter(|runs| runs.len() >= WORDS)
            .collect();
        Answer { subject, sentences }
    }

    /// Weighs sentences of a field that stand in a row.
    fn weigh(&self, field: &'static str, text: &str, new: &[Span], answer: &Answer, signals: &mut Vec<Signal>) {
        let (Some(first), Some(last)) = (new.first(), new.last()) else { return };
        let base = first.start;
        let text = &text[base..last.end];
        let new: Vec<Span> = new.iter().map(|span| Span::new(span.start - base, span.end - base)).collect();
        let mut add = |kind, weight, span: Span| {
            let passage = text[span.start..span.end].to_owned();
            let span = Span::new(span.start + base, span.end + base);
            signals.push(Signal { kind, weight, field, span, passage });
        };
        let is_new = |span: Span| new.iter().any(|sentence| sentence.overlaps(span));
        let mentions = if answer.subject.is_some() { self.texts.mentions(text) } else { Vec::new() };
        let named: Vec<&Mention> = mentions.iter().filter(|mention| self.is_answer(answer.subject, mention)).collect();
        let claims = if named.is_empty() { Claims::default() } else { self.texts.claims(self.atlas, text) };
        for span in &new {
            let sentence = &text[span.start..span.end];
            let names = named.iter().any(|mention| span.overlaps(mention.span));
            let does = Move::of(sentence);
            if let Some(weight) = wording(sentence, answer) {
                add(SignalKind::Wording, weight, *span);
            }
            match (does.finds && !does.asks, names) {
                (true, true) => add(SignalKind::SameConclusion, 0.9, *span),
                (true, false) => add(SignalKind::Conclusion, 0.6, *span),
                (false, true) if is_cause(&claims, *span, answer) => add(SignalKind::SameCause, 0.7, *span),
                (false, true) if does.explains && !does.asks => add(SignalKind::SameCause, 0.5, *span),
                (false, true) if is_fact(&claims, *span, answer) => add(SignalKind::Mention, 0.3, *span),
                _ => {}
            }
            if does.solves && !does.asks {
                add(SignalKind::Solution, if names { 0.8 } else { 0.3 }, *span);
            }
        }
        for span in names(text).filter(|span| is_new(*span)) {
            if let Some(weight) = self.name(&text[span.start..span.end], answer) {
                add(SignalKind::Name, weight, span);
            }
        }
        for span in tags(text).into_iter().filter(|span| is_new(*span)) {
            if self.names_answer(&spaced(&text[span.start..span.end]), answer) {
                add(SignalKind::Tag, 0.7, span);
            }
        }
        for mention in named.iter().filter(|mention| mention.form == Form::Id && is_new(mention.span)) {
            add(SignalKind::Tag, 0.8, mention.span);
        }
    }

    /// Whether a mention is of what the engineers concluded with: the same mechanism, or a component that has it.
    fn is_answer(&self, answer: Option<Subject>, mention: &Mention) -> bool {
        match (answer, mention.subject) {
            (Some(Subject::Mechanism(ix)), Subject::Family(family)) => self.atlas.family_members(family).contains(&ix),
            (Some(answer), subject) => answer == subject,
            (None, _) => false,
        }
    }

    /// A file name or address: it tells by the mechanism, by calling itself a conclusion, or both.
    fn name(&self, name: &str, answer: &Answer) -> Option<f64> {
        let words = spaced(name.split_once('?').map_or(name, |(path, _)| path));
        let concludes = Move::of(&words).finds;
        match (concludes, self.names_answer(&words, answer)) {
            (true, true) => Some(0.9),
            (true, false) | (false, true) => Some(0.6),
            (false, false) => None,
        }
    }

    fn names_answer(&self, words: &str, answer: &Answer) -> bool {
        let mentions = if answer.subject.is_some() { self.texts.mentions(words) } else { Vec::new() };
        // A component alone is what a panel is about: "disk-performance.png".
        mentions.iter().any(|mention| mention.form != Form::Family && self.is_answer(answer.subject, mention))
    }
}

fn is_cause(claims: &Claims, span: Span, answer: &Answer) -> bool {
    claims.claims.iter().any(|claim| {
        claim.role == ClaimRole::Cause
            && claim.strength >= Strength::Cause
            && span.overlaps(claim.span)
            && Some(claim.subject) == answer.subject
    })
}

/// Whether a sentence states the very mechanism, neither as a guess nor as something excluded.
fn is_fact(claims: &Claims, span: Span, answer: &Answer) -> bool {
    claims.claims.iter().any(|claim| {
        matches!(claim.role, ClaimRole::Cause | ClaimRole::Symptom | ClaimRole::Contributing)
            && span.overlaps(claim.span)
            && Some(claim.subject) == answer.subject
    })
}

/// Names of files, and addresses.
fn names(text: &str) -> impl Iterator<Item = Span> {
    let parts = |c: char| {
        c.is_whitespace() || matches!(c, '[' | ']' | '(' | ')' | '<' | '>' | ',' | '，' | '。' | '：' | '；' | '"')
    };
    let is_name = |part: &str| {
        let file = part.trim_end_matches(['.', ':', ';']).rsplit_once('.');
        part.contains("://") || file.is_some_and(|(_, end)| FILE_ENDINGS.contains(&end.to_ascii_lowercase().as_str()))
    };
    let start = text.as_ptr() as usize;
    text.split(parts).filter(move |part| part.len() > 4 && is_name(part)).map(move |part| {
        let at = part.as_ptr() as usize - start;
        Span::new(at, at + part.len())
    })
}

/// Tags: `#io-jitter`, `[io-jitter]`, `【抖动】`, and what stands behind "Labels:".
fn tags(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    for (at, mark) in text.match_indices(['#', '[', '【']) {
        let rest = &text[at + mark.len()..];
        let close = match mark {
            "#" => rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_')).or(Some(rest.len())),
            _ => rest[..rest.floor_char_boundary(MAX_TAG)]
                .find([']', '】', '\n'])
                .filter(|at| !rest[*at..].starts_with('\n')),
        };
        spans.extend(
            close
                .filter(|length| (2..=MAX_TAG).contains(length))
                .map(|length| Span::new(at + mark.len(), at + mark.len() + length)),
        );
    }
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let head: String =
            line.trim_start_matches([' ', '-', '*', '|', '>']).chars().take(12).flat_map(char::to_lowercase).collect();
        if TAG_LINES.iter().any(|word| head.starts_with(word)) {
            spans.push(Span::new(at, at + line.trim_end().len()));
        }
        at += line.len();
    }
    spans
}

/// A name as words: `io-jitter_1.png` is "io jitter 1 png".
fn spaced(name: &str) -> String {
    name.chars()
        .map(|c| if matches!(c, '-' | '_' | '.' | '/' | '#' | '+' | '%' | '[' | ']') { ' ' } else { c })
        .collect()
}

/// How sure the wording of a sentence makes it that it comes from the conclusion.
fn wording(sentence: &str, answer: &Answer) -> Option<f64> {
    if answer.sentences.is_empty() {
        return None;
    }
    let shown = runs(sentence);
    let share = |theirs: &Vec<u64>| {
        let shared = theirs.iter().filter(|run| shown.binary_search(run).is_ok()).count();
        shared as f64 / theirs.len().max(1) as f64
    };
    let best = answer.sentences.iter().map(share).fold(0.0, f64::max);
    match best {
        share if share >= 0.6 => Some(0.9),
        share if share >= 0.4 => Some(0.5),
        _ => None,
    }
}

/// Hashes of all runs of [`WORDS`] words, sorted, each once; of Chinese, characters count, twice as many.
fn runs(text: &str) -> Vec<u64> {
    // FNV-1a, a word at a time.
    let step = |hash: u64, value: u64| (hash ^ value).wrapping_mul(0x0100_0000_01b3);
    let mut words: Vec<u64> = Vec::new();
    let mut chinese = 0;
    let mut in_word = false;
    for c in text.chars() {
        if ('\u{2e80}'..='\u{9fff}').contains(&c) {
            words.push(step(FNV, u64::from(u32::from(c))));
            chinese += 1;
            in_word = false;
        } else if c.is_alphanumeric() {
            if !in_word {
                words.push(FNV);
            }
            let word = words.last_mut().expect("one was pushed");
            *word = c.to_lowercase().fold(*word, |hash, c| step(hash, u64::from(u32::from(c))));
            in_word = true;
        } else {
            in_word = false;
        }
    }
    let length = if chinese * 2 > words.len() { WORDS * 2 } else { WORDS };
    let hashes = words.windows(length).map(|run| run.iter().fold(FNV, |hash, word| step(hash, *word)));
    let mut runs: Vec<u64> = hashes.collect();
    runs.sort_unstable();
    runs.dedup();
    runs
}

/// Where FNV-1a begins.
const FNV: u64 = 0xcbf2_9ce4_8422_2325;
