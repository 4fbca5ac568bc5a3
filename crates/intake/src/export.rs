//! Opening what a user points at: files, folders and archives, whatever form they have inside.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::source::{Columns, Content, FieldNames, Form, JsonRecords, Record, XmlItems, split_renderings};

/// Kinds of files that are looked at in folders and archives.
const EXTENSIONS: [&str; 9] = ["json", "jsonl", "ndjson", "csv", "xml", "rss", "md", "markdown", "zip"];

/// Entries of an archive that are looked at.
const MAX_ENTRIES: usize = 10_000;

/// What an archive may unpack to, all entries together: 16 GiB.
const MAX_UNPACKED: u64 = 16 * 1024 * 1024 * 1024;

/// How many times its packed size an entry may have, once it is larger than [`RATIO_FREE`]; text packs to a tenth.
const MAX_RATIO: u64 = 200;

/// Small entries may pack as well as they like.
const RATIO_FREE: u64 = 8 * 1024 * 1024;

/// A text that is read at once, and a row of a table.
const MAX_TEXT: usize = 64 * 1024 * 1024;

/// How much of a file tells its form.
const HEAD: usize = 8 * 1024;

/// What a user points at.
#[derive(Debug)]
pub struct Export {
    files: Vec<PathBuf>,
    form: Form,
    /// Bytes of all files.
    pub size: u64,
}

/// One thing found in an export.
#[derive(Debug)]
pub enum Item {
    /// A record.
    Record(Record),
    /// Something that can't be read.
    Problem {
        /// Where.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// Something worth knowing that costs no ticket.
    Remark {
        /// Where.
        place: String,
        /// What.
        message: String,
    },
    /// All that was given out before must be kept now: the source will not give it out again.
    Checkpoint,
}

/// Why an export can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A path can't be read.
    #[error("can't read {path}: {source}")]
    Io {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A folder holds nothing of a known kind.
    #[error("{0} holds no ticket files; expected .json, .jsonl, .csv, .xml, .md or .zip")]
    Empty(PathBuf),
}

/// Takes what is found; it can stop the reading.
pub type Sink<'a> = dyn FnMut(Item) -> ControlFlow<()> + 'a;

impl Export {
    /// Finds the files of the paths; folders are searched, hidden files and links to elsewhere left out.
    ///
    /// # Errors
    /// When a path can't be read, or a folder holds nothing of a known kind.
    pub fn open(paths: &[PathBuf], form: Form) -> Result<Self, ExportError> {
        let mut files = Vec::new();
        for path in paths {
            let error = |source| ExportError::Io { path: path.clone(), source };
            let metadata = std::fs::metadata(path).map_err(error)?;
            if metadata.is_dir() {
                let before = files.len();
                search(path, &mut files).map_err(error)?;
                if files.len() == before {
                    return Err(ExportError::Empty(path.clone()));
                }
            } else {
                File::open(path).map_err(error)?;
                files.push(path.clone());
            }
        }
        let size = files.iter().filter_map(|file| std::fs::metadata(file).ok()).map(|metadata| metadata.len()).sum();
        Ok(Self { files, form, size })
    }

    /// Cuts the records out of bytes that are held already: what a file of them would give.
    pub fn read_bytes(place: &str, bytes: &[u8], form: Form, sink: &mut Sink<'_>) -> ControlFlow<()> {
        let export = Self { files: Vec::new(), form, size: 0 };
        export.read_file(place, &mut || Ok(Box::new(Cursor::new(bytes))), sink)
    }

    /// Cuts out every record, in the order of the files, and gives it to `sink`.
    pub fn read(&self, sink: &mut Sink<'_>) -> ControlFlow<()> {
        for path in &self.files {
            let place = path.display().to_string();
            let opened = File::open(path).and_then(|mut file| Ok((is_archive(&mut file)?, file)));
            match opened {
                Ok((true, file)) => self.read_archive(&place, file, sink)?,
                Ok((false, _)) => {
                    let open = || Ok(Box::new(File::open(path)?) as Box<dyn Read>);
                    self.read_file(&place, &mut { open }, sink)?;
                }
                Err(error) => sink(problem(&place, &format!("can't be read: {error}")))?,
            }
        }
        ControlFlow::Continue(())
    }

    fn read_archive(&self, place: &str, file: File, sink: &mut Sink<'_>) -> ControlFlow<()> {
        let mut archive = match zip::ZipArchive::new(file) {
            Ok(archive) => archive,
            Err(error) => return sink(problem(place, &format!("is no archive that can be read: {error}"))),
        };
        if archive.len() > MAX_ENTRIES {
            let message = format!("has {} entries; only the first {MAX_ENTRIES} are read", archive.len());
            sink(problem(place, &message))?;
        }
        let mut left = MAX_UNPACKED;
        for index in 0..archive.len().min(MAX_ENTRIES) {
            let Ok(entry) = archive.by_index_raw(index) else { continue };
            // The name is shown and never used as a path.
            let name = entry.name().map(std::borrow::Cow::into_owned).unwrap_or_default();
            let name: String = name.chars().filter(|c| !c.is_control()).take(200).collect();
            let is_ticket_file = EXTENSIONS.iter().any(|end| name.to_lowercase().ends_with(&format!(".{end}")));
            let base = name.rsplit(['/', '\\']).next().unwrap_or_default();
            if entry.is_dir() || base.starts_with('.') || name.starts_with("__MACOSX/") || !is_ticket_file {
                continue;
            }
            let place = format!("{place}!{name}");
            let most = (entry.compressed_size().saturating_mul(MAX_RATIO)).max(RATIO_FREE).min(left);
            if entry.size() > most {
                let message = format!("unpacks to {} bytes, more than the {most} that are allowed", entry.size());
                sink(problem(&place, &message))?;
                continue;
            }
            left = left.saturating_sub(entry.size());
            drop(entry);
            // Sizes in an archive's directory are claims; what is read is counted.
            let read = |archive: &mut zip::ZipArchive<File>, visit: &mut dyn FnMut(&mut dyn Read)| {
                let unpacked = archive.by_index(index).map_err(|error| io::Error::other(error.to_string()))?;
                visit(&mut Limited { input: unpacked, left: most });
                io::Result::Ok(())
            };
            let mut names = FieldNames::new();
            let surveyed = read(&mut archive, &mut |input| names = survey(self.form, input));
            let mut flow = ControlFlow::Continue(());
            let done = surveyed.and_then(|()| {
                read(&mut archive, &mut |input| flow = self.read_stream(&place, input, Arc::new(names.clone()), sink))
            });
            if let Err(error) = done {
                sink(problem(&place, &format!("can't be unpacked: {error}")))?;
            }
            flow?;
        }
        ControlFlow::Continue(())
    }

    fn read_file<'b>(
        &self,
        place: &str,
        open: &mut dyn FnMut() -> io::Result<Box<dyn Read + 'b>>,
        sink: &mut Sink<'_>,
    ) -> ControlFlow<()> {
        let names = open().map(|mut input| survey(self.form, &mut input));
        match names.and_then(|names| Ok((names, open()?))) {
            Ok((names, mut input)) => self.read_stream(place, &mut input, Arc::new(names), sink),
            Err(error) => sink(problem(place, &format!("can't be read: {error}"))),
        }
    }

    fn read_stream(
        &self,
        place: &str,
        input: &mut dyn Read,
        names: Arc<FieldNames>,
        sink: &mut Sink<'_>,
    ) -> ControlFlow<()> {
        let (head, mut whole) = match peek(input) {
            Ok(peeked) => peeked,
            Err(error) => return sink(problem(place, &format!("can't be read: {error}"))),
        };
        let record =
            |line: usize, content| Item::Record(Record { place: format!("{place}:{line}"), form: self.form, content });
        match shape(&head) {
            Shape::Empty => sink(problem(place, "is empty")),
            Shape::Json => {
                for cut in JsonRecords::new(whole) {
                    sink(match cut {
                        Ok(cut) => record(cut.line, Content::Json(cut.bytes, Arc::clone(&names))),
                        Err(damage) => problem(place, &damage.to_string()),
                    })?;
                }
                ControlFlow::Continue(())
            }
            Shape::Xml => {
                for item in XmlItems::new(whole) {
                    sink(match item {
                        Ok(cut) => record(cut.line, Content::Xml(cut.bytes)),
                        Err(message) => problem(place, &message),
                    })?;
                }
                ControlFlow::Continue(())
            }
            Shape::Markdown => match read_text(&mut whole) {
                Ok(text) => {
                    for (line, rendering) in split_renderings(&text) {
                        sink(record(line, Content::Markdown(rendering.to_owned())))?;
                    }
                    ControlFlow::Continue(())
                }
                Err(error) => sink(problem(place, &format!("can't be read: {error}"))),
            },
            Shape::Utf16 => match read_text(&mut whole) {
                Ok(text) => self.read_stream(place, &mut text.as_bytes(), names, sink),
                Err(error) => sink(problem(place, &format!("can't be read: {error}"))),
            },
            Shape::Table => read_table(place, &head, whole, &record, sink),
            Shape::Unknown => sink(problem(
                place,
                "is in no form that is known; expected JSON, CSV, XML, a Markdown rendering that begins with \"# GTOC-1234: title\", or a zip of these",
            )),
        }
    }
}

fn read_table(
    place: &str,
    beginning: &[u8],
    input: impl Read,
    record: &dyn Fn(usize, Content) -> Item,
    sink: &mut Sink<'_>,
) -> ControlFlow<()> {
    // A quote that is never closed would make the rest of the file one row.
    let left = Rc::new(Cell::new(MAX_TEXT));
    let metered = Metered { input, left: Rc::clone(&left) };
    let mut table = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(metered);
    let mut head: Option<Arc<Columns>> = None;
    let mut row = csv::ByteRecord::new();
    loop {
        left.set(MAX_TEXT);
        let line = usize::try_from(table.position().line()).unwrap_or(usize::MAX);
        match table.read_byte_record(&mut row) {
            Ok(false) => return ControlFlow::Continue(()),
            Ok(true) => match &head {
                None => head = Some(Arc::new(Columns::new(&row, beginning))),
                Some(head) => sink(record(line, Content::Row(Arc::clone(head), row.clone())))?,
            },
            Err(error) => {
                sink(problem(place, &format!("line {line}: the table can't be read on: {error}")))?;
                return ControlFlow::Continue(());
            }
        }
    }
}

fn problem(place: &str, message: &str) -> Item {
    Item::Problem { place: place.to_owned(), message: message.to_owned() }
}

fn search(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries: Vec<_> = std::fs::read_dir(dir)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let path = entry.path();
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        if kind.is_dir() {
            search(&path, files)?;
        } else if kind.is_file() && extension.is_some_and(|extension| EXTENSIONS.contains(&extension.as_str())) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_archive(file: &mut File) -> io::Result<bool> {
    let mut magic = [0; 4];
    let read = read_up_to(file, &mut magic)?;
    Ok(magic[..read] == *b"PK\x03\x04" || magic[..read] == *b"PK\x05\x06")
}

/// What a stream holds.
enum Shape {
    Empty,
    Json,
    Xml,
    Markdown,
    Table,
    Utf16,
    Unknown,
}

fn shape(head: &[u8]) -> Shape {
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Shape::Utf16;
    }
    let text = String::from_utf8_lossy(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head));
    let text = text.trim_start();
    let first_line = text.lines().next().unwrap_or_default();
    match text.bytes().next() {
        None => Shape::Empty,
        Some(b'{' | b'[') => Shape::Json,
        Some(b'<') => Shape::Xml,
        // A browser's view of the XML, saved as text, tells first that it has no style.
        _ if text.lines().any(|line| line.trim_start().starts_with("<rss")) => Shape::Xml,
        _ if text.lines().any(crate::source::opens_rendering) => Shape::Markdown,
        _ if first_line.contains(',') && !text.contains('\0') => Shape::Table,
        _ => Shape::Unknown,
    }
}

/// The `names` of all pages of a stream: they can stand behind the issues that need them.
fn survey(form: Form, input: &mut dyn Read) -> FieldNames {
    let mut names = HashMap::new();
    if form != Form::Jira {
        return names;
    }
    let Ok((head, whole)) = peek(input) else { return names };
    if matches!(shape(&head), Shape::Json) {
        for page in JsonRecords::new(whole).survey() {
            names.extend(serde_json::from_slice::<HashMap<String, String>>(&page).unwrap_or_default());
        }
    }
    names
}

/// The first bytes, and a reader that still has them.
fn peek(input: &mut dyn Read) -> io::Result<(Vec<u8>, impl Read)> {
    let mut head = vec![0; HEAD];
    let read = read_up_to(input, &mut head)?;
    head.truncate(read);
    Ok((head.clone(), Cursor::new(head).chain(input)))
}

fn read_up_to(input: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < buffer.len() {
        match input.read(&mut buffer[read..]) {
            Ok(0) => break,
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// A whole text, in UTF-8 or as its byte order mark says.
fn read_text(input: &mut dyn Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_TEXT).expect("the limit fits 64 bits");
    if input.take(limit + 1).read_to_end(&mut bytes)? > MAX_TEXT {
        return Err(io::Error::other(format!("it is larger than {} MiB", MAX_TEXT / 1024 / 1024)));
    }
    Ok(encoding_rs::UTF_8.decode(&bytes).0.into_owned())
}

/// A reader that fails once it has given out more than it may.
struct Limited<R> {
    input: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        let count = u64::try_from(read).expect("a buffer fits 64 bits");
        self.left =
            self.left.checked_sub(count).ok_or_else(|| io::Error::other("it unpacks to more than is allowed"))?;
        Ok(read)
    }
}

/// A reader whose allowance its user renews.
struct Metered<R> {
    input: R,
    left: Rc<Cell<usize>>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        let left = self.left.get().checked_sub(read);
        self.left.set(left.ok_or_else(|| io::Error::other("a row is too long; is a quote not closed?"))?);
        Ok(read)
    }
}
