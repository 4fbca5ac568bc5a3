//! What a sentence does: concludes, asks, takes back. By its words alone, whether or not the atlas knows what it is about.

use std::sync::LazyLock;

use hindcast_case::Span;
use regex::RegexSet;

/// Words that call something the cause, for good.
const FINAL: &str = r"root[ -]?cause|\brca\b|post[ -]?mortem|the culprit|in conclusion|conclusion\s*[:：]|confirmed (that|to be|as)|we confirmed|turned out|turns out|found (it|the (cause|reason|problem))\b|根因|根本原因|真正原因|结论|复盘|最终确认|确认(是|为|了)|定位到|定位为|(找到|查明|查到)\S{0,4}原因";

/// Words that connect a cause and an effect.
const CAUSAL: &str = r"caused by|due to|because of|thanks to the|原因\s*(是|为|在于|[:：])|导致|由于|引起|造成";

/// Words of a question, a request, an open end.
const OPEN: &str = r"\?|？|please|could you|can you|help (us|to)|need(s)? to (find|know|check)|what('s| is| was) the|unknown|not (yet )?(known|clear|found)|still (investigating|looking)|to be (confirmed|determined)|look(ing)? for|find (out )?the|请|帮忙|麻烦|求助|协助|排查一下|看一下|看下|什么原因|是否|未知|不明|待确认|还不清楚|还没|没有?(找到|定位)|未定位|尚未|想知道|需要(确认|定位)";

/// Words that take an earlier statement back.
const BACK: &str = r"i was wrong|we were wrong|was (a )?wrong|is wrong|not the (root )?cause|scratch that|ignore my|disregard|retract|my (previous|earlier) (comment|conclusion|guess|analysis)|(previous|earlier) (conclusion|analysis|guess) (is|was) (wrong|incorrect|not)|之前的?(判断|结论|分析|怀疑|猜测)\S{0,6}(不对|有误|错误|错了|不成立|推翻|排除)|(推翻|更正|修正|撤回)\S{0,4}(之前|前面|上面|结论)|判断错了|不是这个原因|搞错了";

/// Words that tell how it was solved.
const SOLVED: &str = r"resolution\s*[:：]|resolved (by|after)|fixed (by|in|after)|workaround|mitigated by|went away after|recovered after|解决(方案|办法|方法)|已(修复|解决|恢复)|(修复|更换|升级|扩容|替换|调整|重启)\S{0,12}(后|之后)\S{0,4}(恢复|正常|解决)";

/// All five, matched in one pass.
static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
    let patterns = [FINAL, CAUSAL, OPEN, BACK, SOLVED].map(ascii_boundaries);
    regex::RegexSetBuilder::new(patterns).case_insensitive(true).build().expect("the tests compile the patterns")
});

/// A pattern whose `\b` are boundaries of ASCII words. Chinese has no spaces: "确认RCA了" has the word RCA. And only such
/// boundaries can be matched in one pass over any text.
#[must_use]
pub fn ascii_boundaries(pattern: &str) -> String {
    pattern.replace(r"\b", r"(?-u:\b)")
}

/// What a sentence does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Move {
    /// Calls something the cause for good: "root cause", "最终确认".
    pub finds: bool,
    /// Connects a cause and an effect: "due to", "导致".
    pub explains: bool,
    /// Asks, requests, leaves open.
    pub asks: bool,
    /// Takes an earlier statement back.
    pub retracts: bool,
    /// Tells how it was solved.
    pub solves: bool,
}

impl Move {
    /// What a sentence does.
    #[must_use]
    pub fn of(sentence: &str) -> Self {
        let found = PATTERNS.matches(sentence);
        let [finds, explains, asks, retracts, solves] = [0, 1, 2, 3, 4].map(|pattern| found.matched(pattern));
        Self { finds, explains, asks, retracts, solves }
    }

    /// Whether it concludes: names a cause, and does not ask for it.
    #[must_use]
    pub fn concludes(self) -> bool {
        (self.finds || self.explains) && !self.asks
    }
}

/// The sentences of a text, in order, without the white space around them.
pub fn sentences(text: &str) -> impl Iterator<Item = Span> {
    let mut at = 0;
    let ends = |c: char| matches!(c, '\n' | '。' | '!' | '！' | '?' | '？' | ';' | '；');
    text.split_inclusive(ends).flat_map(|part| part.split_inclusive(". ")).filter_map(move |part| {
        let start = at + (part.len() - part.trim_start().len());
        at += part.len();
        let span = Span::new(start, start + part.trim().len());
        (span.start < span.end).then_some(span)
    })
}

/// Whether a line was written by a program: `[2024/12/03 21:21:13.215 +08:00] [INFO] …`.
#[must_use]
pub fn is_log_line(line: &str) -> bool {
    let bytes = line.strip_prefix('[').unwrap_or(line).as_bytes();
    bytes.len() > 24
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && matches!(bytes[4], b'/' | b'-')
        && bytes[10] == b' '
        && bytes[13] == b':'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_keep_their_place() {
        let text = "A is slow. Why? 慢。\n\n好";
        let found: Vec<&str> = sentences(text).map(|span| &text[span.start..span.end]).collect();
        assert_eq!(found, ["A is slow.", "Why?", "慢。", "好"]);
    }

    #[test]
    fn programs_write_otherwise_than_people() {
        assert!(is_log_line("[2024/12/03 21:21:13.215 +08:00] [INFO] [peer_storage.rs:605] [\"begin\"]"));
        assert!(is_log_line("2024-12-03 21:21:13,215 WARN x"));
        assert!(!is_log_line("2024-12-03 was a slow day for us") && !is_log_line("[2024/12/03]"));
    }

    #[test]
    fn a_question_does_not_conclude() {
        assert!(Move::of("Root cause: the disk.").concludes());
        assert!(Move::of("这是云盘抖动导致的").concludes());
        assert!(!Move::of("请帮忙定位根因").concludes());
        assert!(!Move::of("What is the root cause?").concludes());
        assert!(Move::of("I was wrong").retracts && Move::of("更换云盘后恢复正常").solves);
    }
}
