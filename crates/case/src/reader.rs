//! Lenient reading: what was meant, and everything that had to be changed to get there.

use std::borrow::Cow;
use std::fmt;

use jsonc_parser::ast::{Object, StringLit, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::case::{Case, SkillConclusion};
use crate::diagnostic::{Code, Diagnostic, Severity, Span};
use crate::fold::{fold_word, is_placeholder};
use crate::json::{Json, prop_name};
use crate::near::nearest;
use crate::record::{Extra, Extras, Field};
use crate::vocabulary::{MatchLevel, Vocabulary};
use crate::writer::Writer;

/// The largest file that is read: a hand-written case is a few kilobytes.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;

/// How deep a file may nest; the schema itself needs five levels.
pub const MAX_DEPTH: usize = 128;

/// What came of reading one file.
#[derive(Debug, Clone)]
pub struct Reading<T> {
    /// The value, unless an error stands in the way.
    pub value: Option<T>,
    /// Everything that was found, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a case file.
#[must_use]
pub fn read(bytes: &[u8]) -> Reading<Case> {
    read_document(bytes, |case: &mut Case, root, reader| {
        reader.check_identity(case, root);
        reader.check_settled(case, root);
    })
}

/// Reads a file that holds only a `skill_conclusion`, or a whole case of which that part is taken.
#[must_use]
pub fn read_skill_conclusion(bytes: &[u8]) -> Reading<SkillConclusion> {
    let has_conclusion = |root: &Value<'_>| root.as_object().is_some_and(|o| member(o, "skill_conclusion").is_some());
    let is_case = parse(bytes).is_ok_and(|(_, root)| has_conclusion(&root));
    if !is_case {
        return read_document(bytes, |_, _, _| {});
    }
    let case = read(bytes);
    Reading { value: case.value.map(|case| case.skill_conclusion), diagnostics: case.diagnostics }
}

fn read_document<T: Field>(bytes: &[u8], finish: impl FnOnce(&mut T, &Value<'_>, &mut Reader)) -> Reading<T> {
    let (text, root) = match parse(bytes) {
        Ok(parsed) => parsed,
        Err(diagnostic) => return Reading { value: None, diagnostics: vec![*diagnostic] },
    };
    let mut reader = Reader::new(bytes.len() - text.len());
    if reader.base > 0 {
        reader.note(Code::ByteOrderMark, "a byte order mark stands before the JSON".to_owned());
    }
    reader.span = reader.span_of(&root);
    let mut value = T::read(&root, &mut reader);
    if value.is_none() && reader.diagnostics.iter().all(|d| d.severity != Severity::Error) {
        reader.error(Code::WrongType, "expected an object, found nothing".to_owned());
    }
    if let Some(value) = &mut value {
        finish(value, &root, &mut reader);
        if reader.diagnostics.is_empty() && Writer::document(value) != text {
            reader.span = Span::new(0, 1);
            reader.note(Code::NotCanonical, "the file is not in canonical form (order, indent or newline)".to_owned());
        }
    }
    let mut diagnostics = reader.diagnostics;
    diagnostics.sort_by_key(|d| d.span.start);
    let usable = !diagnostics.iter().any(|d| d.severity == Severity::Error);
    Reading { value: value.filter(|_| usable), diagnostics }
}

fn parse(bytes: &[u8]) -> Result<(&str, Value<'_>), Box<Diagnostic>> {
    let refuse = |code, offset: usize, message: String, help: &str| {
        Box::new(Diagnostic {
            code,
            severity: Severity::Error,
            field: String::new(),
            span: Span::new(offset, offset + 1),
            message,
            help: Some(help.to_owned()),
        })
    };
    if bytes.len() > MAX_BYTES {
        let message = format!("the file is larger than {} MiB, the most that one case may have", MAX_BYTES >> 20);
        return Err(refuse(Code::TooLarge, 0, message, "is this one case? A casebook keeps one case a file"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let message = format!("byte {} is not UTF-8", error.valid_up_to());
        refuse(
            Code::NotUtf8,
            error.valid_up_to(),
            message,
            "convert the file first, for example: iconv -f GB18030 -t UTF-8",
        )
    })?;
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let base = text.len() - body.len();
    if let Some(offset) = too_deep(body) {
        let message = format!("arrays and objects nest deeper than {MAX_DEPTH} levels");
        return Err(refuse(Code::TooDeep, base + offset, message, "a case nests five levels deep"));
    }
    let parsed = parse_to_ast(body, &CollectOptions::default(), &STRICT_JSON);
    match parsed {
        Ok(parsed) => match parsed.value {
            Some(root) => Ok((body, root)),
            None => Err(refuse(Code::NotJson, 0, "the file is empty".to_owned(), "expected one JSON object")),
        },
        Err(error) => {
            let message = format!("this is not JSON: {}", error.kind());
            Err(refuse(
                Code::NotJson,
                base + error.range().start,
                message,
                "mend the JSON by hand; nothing of the file was read",
            ))
        }
    }
}

/// Comments and the like would be lost on writing, so they are refused rather than skipped.
const STRICT_JSON: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Where the text first nests too deep. Asked before parsing, so that no parser has to recurse that far.
fn too_deep(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (offset, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Some(offset);
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

fn member<'a, 't>(object: &'a Object<'t>, name: &str) -> Option<&'a Value<'t>> {
    let folded = fold_word(name);
    object.properties.iter().find(|p| fold_word(prop_name(&p.name)) == folded).map(|p| &p.value)
}

/// Where in the document a reader stands.
#[derive(Debug)]
enum Segment {
    Field(&'static str),
    Index(usize),
}

/// Collects diagnostics while values are read.
#[derive(Debug)]
pub(crate) struct Reader {
    base: usize,
    span: Span,
    path: Vec<Segment>,
    diagnostics: Vec<Diagnostic>,
}

/// Adds a hint to the diagnostic that was just reported.
pub(crate) struct Reported<'a>(&'a mut Diagnostic);

impl Reported<'_> {
    pub(crate) fn help(self, help: &str) {
        self.0.help = Some(help.to_owned());
    }
}

impl Reader {
    fn new(base: usize) -> Self {
        Self { base, span: Span::default(), path: Vec::new(), diagnostics: Vec::new() }
    }

    // ---- reporting ----

    pub(crate) fn error(&mut self, code: Code, message: String) -> Reported<'_> {
        self.report(Severity::Error, code, message)
    }

    pub(crate) fn warning(&mut self, code: Code, message: String) -> Reported<'_> {
        self.report(Severity::Warning, code, message)
    }

    pub(crate) fn note(&mut self, code: Code, message: String) -> Reported<'_> {
        self.report(Severity::Note, code, message)
    }

    /// A value was understood and is written differently.
    pub(crate) fn normalised(&mut self, from: &str, to: &str) {
        self.note(Code::NormalisedValue, format!("{from:?} is written as {to:?}"));
    }

    /// A value stood for "nothing here".
    pub(crate) fn emptied(&mut self, from: &str) {
        self.note(Code::EmptyPlaceholder, format!("{from} is read as empty: not known yet"));
    }

    fn report(&mut self, severity: Severity, code: Code, message: String) -> Reported<'_> {
        let message = shortened(message);
        let diagnostic = Diagnostic { code, severity, field: self.field_path(), span: self.span, message, help: None };
        self.diagnostics.push(diagnostic);
        Reported(self.diagnostics.last_mut().expect("one was just pushed"))
    }

    fn field_path(&self) -> String {
        let mut path = String::new();
        for segment in &self.path {
            match segment {
                Segment::Field(name) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(name);
                }
                Segment::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }

    fn span_of(&self, value: &impl Ranged) -> Span {
        Span::new(self.base + value.start(), self.base + value.end())
    }

    fn within<R>(&mut self, segment: Segment, span: Span, read: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.span, span);
        self.path.push(segment);
        let result = read(self);
        self.path.pop();
        self.span = outer;
        result
    }

    // ---- values ----

    pub(crate) fn field<T: Field + Default>(&mut self, name: &'static str, value: Option<&Value<'_>>) -> T {
        let Some(value) = value else { return T::default() };
        let span = self.span_of(value);
        self.within(Segment::Field(name), span, |reader| T::read(value, reader)).unwrap_or_default()
    }

    /// A word: trimmed, never empty.
    pub(crate) fn text(&mut self, value: &Value<'_>) -> Option<String> {
        let text = self.scalar(value)?;
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return None;
        }
        if trimmed.len() != text.len() {
            self.normalised(&text, trimmed);
        }
        Some(trimmed.to_owned())
    }

    /// Text that should be `what`: read where it can be, and kept as it stands, with a warning, where it can't.
    pub(crate) fn readable<T: fmt::Display>(
        &mut self,
        value: &Value<'_>,
        parse: impl Fn(&str) -> T,
        is_text: impl Fn(&T) -> bool,
        what: &str,
        example: &str,
    ) -> Option<T> {
        let text = self.text(value)?;
        if is_placeholder(&text) {
            self.emptied(&format!("{text:?}"));
            return None;
        }
        let read = parse(&text);
        if is_text(&read) {
            self.warning(Code::UnreadableTime, format!("{text:?} can't be read as {what}; kept as it stands"))
                .help(&format!("expected for example {example}"));
        } else if read.to_string() != text {
            self.normalised(&text, &read.to_string());
        }
        Some(read)
    }

    /// Prose: kept to the letter.
    pub(crate) fn prose(&mut self, value: &Value<'_>) -> Option<String> {
        if let Value::Array(array) = value
            && array.elements.len() > 1
            && array.elements.iter().all(|element| matches!(element, Value::StringLit(_)))
        {
            self.note(
                Code::ConvertedType,
                format!("a list of {} strings is read as lines of text", array.elements.len()),
            );
            let lines = array.elements.iter().filter_map(Value::as_string_lit).map(|lit| &*lit.value);
            return Some(lines.collect::<Vec<_>>().join("\n"));
        }
        let text = self.scalar(value)?;
        if is_placeholder(&text) {
            self.emptied(&format!("{text:?}"));
            return None;
        }
        Some(text.into_owned())
    }

    fn scalar<'v>(&mut self, value: &'v Value<'_>) -> Option<Cow<'v, str>> {
        match value {
            Value::StringLit(lit) => Some(Cow::Borrowed(&*lit.value)),
            Value::NullKeyword(_) => {
                self.emptied("null");
                None
            }
            Value::NumberLit(lit) => {
                self.note(Code::ConvertedType, format!("the number {0} is read as the text \"{0}\"", lit.value));
                Some(Cow::Borrowed(lit.value))
            }
            Value::BooleanLit(lit) => {
                self.note(Code::ConvertedType, format!("{} is read as text", lit.value));
                Some(Cow::Borrowed(if lit.value { "true" } else { "false" }))
            }
            Value::Array(array) if array.elements.is_empty() => {
                self.emptied("an empty list");
                None
            }
            Value::Array(array) if array.elements.len() == 1 => {
                self.note(Code::ConvertedType, "a list of one item is read as that item".to_owned());
                self.scalar(&array.elements[0])
            }
            Value::Array(_) | Value::Object(_) => {
                let found = if matches!(value, Value::Array(_)) { "a list of several items" } else { "an object" };
                self.error(Code::WrongType, format!("expected text, found {found}"));
                None
            }
        }
    }

    pub(crate) fn vocabulary<T: Vocabulary>(&mut self, value: &Value<'_>) -> Option<T> {
        let text = self.text(value)?;
        if let Some(word) = T::recognise(&text) {
            if word.as_str() != text {
                self.normalised(&text, word.as_str());
            }
            return Some(word);
        }
        if is_placeholder(&text) || is_template::<T>(&text) {
            self.emptied(&format!("{text:?}"));
            return None;
        }
        let words = T::ALL.iter().map(|word| word.as_str());
        let help = match nearest(&text, words.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("expected one of: {}", words.collect::<Vec<_>>().join(", ")),
        };
        self.error(T::CODE, format!("{text:?} is not {} {}", article(T::WHAT), T::WHAT)).help(&help);
        None
    }

    pub(crate) fn list<T: Field>(&mut self, value: &Value<'_>) -> Option<Vec<T>> {
        match value {
            Value::Array(array) => {
                let items = array.elements.iter().enumerate();
                Some(items.filter_map(|(index, element)| self.item(index, element)).collect())
            }
            Value::NullKeyword(_) => {
                self.emptied("null");
                None
            }
            Value::StringLit(lit) if lit.value.trim().is_empty() => {
                self.note(Code::ConvertedType, "an empty string is read as an empty list".to_owned());
                None
            }
            Value::StringLit(lit) if is_placeholder(&lit.value) => {
                self.emptied(&format!("{:?}", lit.value));
                None
            }
            Value::StringLit(lit) => {
                let parts = T::split(&lit.value);
                self.note(Code::ConvertedType, format!("a string is read as a list of {}", parts.len()));
                let part = |text| Value::StringLit(StringLit { range: lit.range, value: Cow::Borrowed(text) });
                Some(parts.into_iter().enumerate().filter_map(|(i, text)| self.item(i, &part(text))).collect())
            }
            Value::NumberLit(_) | Value::BooleanLit(_) | Value::Object(_) => {
                self.note(Code::ConvertedType, "a single value is read as a list of one".to_owned());
                self.item(0, value).map(|item| vec![item])
            }
        }
    }

    fn item<T: Field>(&mut self, index: usize, element: &Value<'_>) -> Option<T> {
        let span = self.span_of(element);
        self.within(Segment::Index(index), span, |reader| {
            let before = reader.diagnostics.len();
            let item = T::read(element, reader);
            if item.is_none() && reader.diagnostics.len() == before {
                reader.note(Code::EmptyPlaceholder, "an empty item is left out of the list".to_owned());
            }
            item
        })
    }

    /// The members of an object in the order of `names`; all others go to `extras`.
    pub(crate) fn object<'v, 't>(
        &mut self,
        value: &'v Value<'t>,
        names: &[&'static str],
        extras: &mut Extras,
    ) -> Option<Vec<Option<&'v Value<'t>>>> {
        let Value::Object(object) = value else {
            if matches!(value, Value::NullKeyword(_)) {
                self.emptied("null");
            } else {
                self.error(Code::WrongType, "expected an object".to_owned())
                    .help(&format!("with the fields {}", names.join(", ")));
            }
            return None;
        };
        let mut values = vec![None; names.len()];
        let mut after = None;
        for prop in &object.properties {
            let key = prop_name(&prop.name);
            let span = self.span_of(&prop.name);
            let exact = names.iter().position(|name| *name == key);
            let folded = || names.iter().position(|name| fold_word(name) == fold_word(key));
            match exact.or_else(folded) {
                Some(index) => {
                    after = Some(index);
                    self.within(Segment::Field(names[index]), span, |reader| {
                        if names[index] != key {
                            reader.note(Code::MisspeltField, format!("field {key:?} is written as {:?}", names[index]));
                        }
                        reader.keep_one(&mut values[index], &prop.value, key);
                    });
                }
                None => self.unknown_field(key, &prop.value, span, names, after, extras),
            }
        }
        let missing: Vec<&str> =
            names.iter().zip(&values).filter(|(_, v)| v.is_none()).map(|(name, _)| *name).collect();
        if !missing.is_empty() {
            self.note(Code::MissingField, format!("missing, written as empty: {}", missing.join(", ")));
        }
        Some(values)
    }

    fn keep_one<'v, 't>(&mut self, slot: &mut Option<&'v Value<'t>>, value: &'v Value<'t>, key: &str) {
        match slot {
            None => *slot = Some(value),
            Some(first) if Json::from(*first) == Json::from(value) => {
                self.note(Code::DuplicateKey, format!("{key:?} stands twice with the same value; one is written"));
            }
            Some(_) => {
                self.error(Code::DuplicateKey, format!("{key:?} stands twice with different values"))
                    .help("keep the one that is right");
            }
        }
    }

    fn unknown_field(
        &mut self,
        key: &str,
        value: &Value<'_>,
        span: Span,
        names: &[&'static str],
        after: Option<usize>,
        extras: &mut Extras,
    ) {
        let json = Json::from(value);
        let outer = std::mem::replace(&mut self.span, span);
        match extras.0.iter().find(|extra| extra.key == key) {
            Some(extra) if extra.value == json => {
                self.note(Code::DuplicateKey, format!("{key:?} stands twice with the same value; one is written"));
            }
            Some(_) => {
                self.error(Code::DuplicateKey, format!("{key:?} stands twice with different values"))
                    .help("keep the one that is right");
            }
            None => {
                let help = match nearest(key, names.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the fields here are: {}", names.join(", ")),
                };
                self.warning(Code::UnknownField, format!("{key:?} is not a field of the schema; kept in place"))
                    .help(&help);
                extras.0.push(Extra { after, key: key.to_owned(), value: json });
            }
        }
        self.span = outer;
    }

    // ---- rules that need more than one field ----

    fn check_identity(&mut self, case: &mut Case, root: &Value<'_>) {
        let malformed = self.diagnostics.iter().any(|d| d.code == Code::MalformedIncidentId);
        if case.incident_id.as_str().is_empty() {
            if !malformed {
                self.at(root, "incident_id", |reader| {
                    reader
                        .error(Code::MissingIncidentId, "the case has no incident_id".to_owned())
                        .help("the ticket's key: GTOC-1234, TICKET-8412, TIKV-18274");
                });
            }
            return;
        }
        let expected = case.incident_id.source();
        match case.source {
            Some(source) if case.incident_id.fits(source) => {}
            Some(source) => self.at(root, "source", |reader| {
                reader
                    .error(Code::IdSourceMismatch, format!("{} is not an id of source {source}", case.incident_id))
                    .help(&format!("expected source `{expected}`"));
            }),
            None if self.diagnostics.iter().any(|d| d.code == Code::UnknownSource) => {}
            None => self.at(root, "source", |reader| {
                reader.note(Code::NormalisedValue, format!("the source is {expected}, as the id says"));
                case.source = Some(expected);
            }),
        }
    }

    fn check_settled(&mut self, case: &Case, root: &Value<'_>) {
        if case.match_level == Some(MatchLevel::Matched) && !case.mismatch_type.is_empty() {
            self.at(root, "mismatch_type", |reader| {
                reader
                    .warning(Code::UnsettledMismatch, "a matched case lists mismatch types".to_owned())
                    .help("empty the list, or change match_level");
            });
        }
    }

    /// Reports at a member of the root object.
    fn at(&mut self, root: &Value<'_>, name: &'static str, report: impl FnOnce(&mut Self)) {
        let value = root.as_object().and_then(|object| member(object, name));
        let start = self.base + root.start();
        let span = value.map_or(Span::new(start, start + 1), |value| self.span_of(value));
        self.within(Segment::Field(name), span, report);
    }
}

/// The longest message; what it quotes stands in the file anyway.
const MAX_MESSAGE: usize = 400;

/// A message that quotes a very long value, cut in the middle.
fn shortened(message: String) -> String {
    let count = message.chars().count();
    if count <= MAX_MESSAGE {
        return message;
    }
    let head: String = message.chars().take(MAX_MESSAGE / 2).collect();
    let tail: String = message.chars().skip(count - MAX_MESSAGE / 4).collect();
    format!("{head} […] {tail}")
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

/// The template's own text, left unfilled: "matched | partially_matched | …", "jira_gtoc or pingkai".
fn is_template<T: Vocabulary>(text: &str) -> bool {
    let words: Vec<&str> = text.split(['|']).flat_map(|part| part.split(" or ")).map(str::trim).collect();
    words.len() > 1 && words.iter().all(|word| T::ALL.iter().any(|known| known.as_str() == *word))
}
