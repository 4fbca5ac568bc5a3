//! What a reader has to say about a case file: where, how bad, what was expected.

use std::fmt;

/// A range of bytes in the text that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The range from `start` up to, not including, `end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Whether the two ranges share a byte.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// A line and a column, both counted from one; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line, from one.
    pub line: usize,
    /// Character in that line, from one.
    pub column: usize,
}

impl Position {
    /// Where byte `offset` of `text` stands. An offset past the end means the end.
    #[must_use]
    pub fn of(text: &str, offset: usize) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line_start = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        // Continuation bytes are not characters of their own.
        let column = before[line_start..].iter().filter(|b| **b & 0xc0 != 0x80).count();
        Self { line: before.iter().filter(|b| **b == b'\n').count() + 1, column: column + 1 }
    }
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The value was understood and is written in its canonical form.
    Note,
    /// The value was kept as it stands, but it is probably not what was meant.
    Warning,
    /// The file can't be used until a person mends it.
    Error,
}

impl Severity {
    /// The word shown to people and machines.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One finding in a case file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The stable code; `hindcast explain CODE` tells more.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// The field, as `skill_conclusion.entry_mode` or `analysis_windows[1].label`; empty for the whole file.
    pub field: String,
    /// Where it stands in the text.
    pub span: Span,
    /// What is wrong, or what was changed.
    pub message: String,
    /// What was expected, or the near match.
    pub help: Option<String>,
}

macro_rules! codes {
    ($($variant:ident = $name:literal,)*) => {
        /// The stable codes of everything that reading a case can report, one documentation file each.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "each code is documented in codes/<name>.md, which `explain` prints")]
        pub enum Code {
            $($variant,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The code as it is printed, for example `case/unknown-entry-mode`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!("case/", $name),)*
                }
            }

            /// The text that `hindcast explain` prints, in Markdown; its first line is a summary.
            #[must_use]
            pub fn explanation(self) -> &'static str {
                match self {
                    $(Self::$variant => include_str!(concat!("codes/", $name, ".md")),)*
                }
            }
        }
    };
}

codes! {
    NotJson = "not-json",
    NotUtf8 = "not-utf8",
    TooLarge = "too-large",
    TooDeep = "too-deep",
    WrongType = "wrong-type",
    DuplicateKey = "duplicate-key",
    UnknownField = "unknown-field",
    MisspeltField = "misspelt-field",
    MissingField = "missing-field",
    MissingIncidentId = "missing-incident-id",
    MalformedIncidentId = "malformed-incident-id",
    IdSourceMismatch = "id-source-mismatch",
    UnknownSource = "unknown-source",
    SourceNotStrict = "source-not-strict",
    UnknownEntryMode = "unknown-entry-mode",
    UnknownReference = "unknown-reference",
    UnknownMatchLevel = "unknown-match-level",
    UnknownMismatchType = "unknown-mismatch-type",
    UnknownStatus = "unknown-status",
    UnknownAssessment = "unknown-assessment",
    UnknownWord = "unknown-word",
    UnreadableTime = "unreadable-time",
    NormalisedValue = "normalised-value",
    ConvertedType = "converted-type",
    EmptyPlaceholder = "empty-placeholder",
    ByteOrderMark = "byte-order-mark",
    NotCanonical = "not-canonical",
    UnsettledMismatch = "unsettled-mismatch",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_each_explains_itself() {
        let mut seen = std::collections::BTreeSet::new();
        for code in Code::ALL {
            assert!(seen.insert(code.as_str()), "{code} twice");
            let (summary, body) = code.explanation().split_once('\n').expect("a summary and a body");
            assert!(summary.starts_with("# ") && body.trim().len() > 60, "{code} explains too little");
        }
    }

    #[test]
    fn columns_count_characters_and_lines_from_one() {
        let text = "{\n  \"磁\": x";
        assert_eq!(Position::of(text, text.len() - 1), Position { line: 2, column: 8 });
        assert_eq!(Position::of(text, 0), Position { line: 1, column: 1 });
        assert_eq!(Position::of(text, 999).line, 2);
    }
}
