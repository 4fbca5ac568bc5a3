//! Sentences and clauses of English, Chinese and mixed text.

use hindcast_case::Span;

/// What stands before a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// The start of a sentence.
    Sentence,
    /// A comma, colon, semicolon, bracket or dash.
    Mark,
    /// A word that turns the thought: "but", "但是".
    Turn,
}

/// One clause of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clause {
    /// Where it stands.
    pub span: Span,
    /// Which sentence it belongs to, from zero.
    pub sentence: usize,
    /// What stands before it.
    pub before: Break,
}

/// Words that open a clause which contrasts with the one before.
const TURNS: [&str; 9] = ["but ", "however ", "whereas ", "while ", "rather ", "但", "不过", "而是", "然而"];

/// Splits a text into clauses, in order; white space around them is not part of them.
#[must_use]
pub(crate) fn clauses(text: &str) -> Vec<Clause> {
    let mut clauses = Vec::new();
    let (mut start, mut sentence, mut before) = (0, 0, Break::Sentence);
    let mut cut = |start: usize, end: usize, sentence: usize, before: Break| {
        let body = &text[start..end];
        let trimmed = body.trim();
        if !trimmed.is_empty() {
            let from = start + (body.len() - body.trim_start().len());
            clauses.push(Clause { span: Span::new(from, from + trimmed.len()), sentence, before });
        }
    };
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        let next = text[at + c.len_utf8()..].chars().next();
        if let Some(found) = break_at(c, previous, next, &text[at..]) {
            cut(start, at, sentence, before);
            if found == Break::Sentence {
                sentence += 1;
            }
            before = found;
            start = if found == Break::Turn { at } else { at + c.len_utf8() };
        }
        previous = c;
    }
    cut(start, text.len(), sentence, before);
    clauses
}

fn break_at(c: char, previous: char, next: Option<char>, rest: &str) -> Option<Break> {
    let between_digits = previous.is_ascii_digit() && next.is_some_and(|n| n.is_ascii_digit());
    match c {
        '。' | '！' | '？' | '!' | '?' | '\n' => Some(Break::Sentence),
        '.' if next.is_none_or(char::is_whitespace) && !is_abbreviation(previous, rest) => Some(Break::Sentence),
        ',' | ':' if !between_digits => Some(Break::Mark),
        '，' | '：' | ';' | '；' | '(' | ')' | '（' | '）' | '—' => Some(Break::Mark),
        _ => {
            let opens_word = !previous.is_ascii_alphanumeric();
            let turns = opens_word && matches!(c, 'b' | 'h' | 'w' | 'r' | '但' | '不' | '而' | '然');
            (turns && TURNS.iter().any(|turn| rest.starts_with(turn))).then_some(Break::Turn)
        }
    }
}

/// "e.g." and "i.e." end no sentence.
fn is_abbreviation(previous: char, rest: &str) -> bool {
    matches!(previous, 'g' | 'e') && rest.starts_with(". ") && rest.chars().nth(2).is_some_and(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(usize, &str)> {
        clauses(text).iter().map(|c| (c.sentence, &text[c.span.start..c.span.end])).collect()
    }

    #[test]
    fn sentences_and_clauses_are_found_in_both_languages() {
        assert_eq!(
            split("v3.0.3 is slow, 90,000 tasks at 13:47:50. Next; done"),
            [(0, "v3.0.3 is slow"), (0, "90,000 tasks at 13:47:50"), (1, "Next"), (1, "done")]
        );
        assert_eq!(
            split("最初怀疑磁盘,后来确认是 gRPC 打满。排除了网络"),
            [(0, "最初怀疑磁盘"), (0, "后来确认是 gRPC 打满"), (1, "排除了网络")]
        );
        assert_eq!(
            split("disk is fine but the network is slow"),
            [(0, "disk is fine"), (0, "but the network is slow")]
        );
        assert_eq!(split(" ,, 。 "), []);
    }
}
