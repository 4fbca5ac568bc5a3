//! Reading case files and line files for commands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hindcast_case::{Case, Diagnostic, MAX_BYTES, Position, Reading, Severity};
use hindcast_replay::Casebook;

use crate::failure::Failure;

/// The bytes of a file that should hold one case; a larger one is cut where the reader refuses it.
pub(crate) fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_BYTES).expect("the limit fits 64 bits") + 1;
    std::fs::File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A case that a command can't do without.
pub(crate) fn read_case(path: &Path) -> Result<Case, Failure> {
    let bytes = read_bytes(path).map_err(|error| Failure::io("read", path, &error))?;
    usable(path, &bytes, hindcast_case::read(&bytes))
}

/// The value of a reading, or its errors as a failure.
pub(crate) fn usable<T>(path: &Path, bytes: &[u8], reading: Reading<T>) -> Result<T, Failure> {
    let errors: Vec<String> = reading
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .map(|diagnostic| format!("\n  {}", one_line(path, bytes, diagnostic)))
        .collect();
    reading.value.ok_or_else(|| {
        Failure::new(format!("{} can't be used:{}", path.display(), errors.concat()))
            .help(format!("hindcast check {}", path.display()))
    })
}

/// A diagnostic in one line, as compilers print it.
pub(crate) fn one_line(path: &Path, bytes: &[u8], diagnostic: &Diagnostic) -> String {
    let Position { line, column } = position(bytes, diagnostic);
    let help = diagnostic.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
    let Diagnostic { severity, code, message, .. } = diagnostic;
    format!("{}:{line}:{column}: {severity}[{code}]: {message}{help}", path.display())
}

/// Where a diagnostic stands; in a file that is not text, bytes count as characters.
pub(crate) fn position(bytes: &[u8], diagnostic: &Diagnostic) -> Position {
    match std::str::from_utf8(bytes) {
        Ok(text) => Position::of(text, diagnostic.span.start),
        Err(_) => Position::of(&String::from_utf8_lossy(bytes), diagnostic.span.start),
    }
}

/// The cases of a casebook that `wanted` names, by id. Files that can't be used are passed over: they are reported where
/// they are missed.
pub(crate) fn cases_of(casebook: &Path, wanted: impl Fn(&str) -> bool) -> Result<BTreeMap<String, Case>, Failure> {
    let casebook = Casebook::open(casebook).map_err(|error| Failure::new(error.to_string()))?;
    let mut cases = BTreeMap::new();
    for path in casebook.paths() {
        let bytes = read_bytes(&path).map_err(|error| Failure::io("read", &path, &error))?;
        if let Some(case) = hindcast_case::read(&bytes).value
            && wanted(case.incident_id.as_str())
        {
            cases.insert(case.incident_id.to_string(), case);
        }
    }
    Ok(cases)
}

/// The non-empty lines of a JSON Lines file, parsed; an error names the line.
pub(crate) fn read_lines<T, E: std::fmt::Display>(
    path: &Path,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Vec<T>, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::io("read", path, &error))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let parsed: Result<Vec<T>, Failure> = lines
        .map(|(at, line)| parse(line).map_err(|error| Failure::new(format!("{}:{}: {error}", path.display(), at + 1))))
        .collect();
    let parsed = parsed?;
    if parsed.is_empty() {
        return Err(Failure::new(format!("{} holds no lines", path.display())).help("expected one JSON object a line"));
    }
    Ok(parsed)
}

/// Case files among the arguments: files as they are, folders searched for `*.json`, hidden ones left out.
pub(crate) fn case_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = found.len();
            search(path, &mut found).map_err(|error| Failure::io("list", path, &error))?;
            if found.len() == before {
                return Err(Failure::new(format!("{} holds no *.json files", path.display())));
            }
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn search(dir: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries: Vec<_> = std::fs::read_dir(dir)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        let kind = entry.file_type()?;
        if hidden {
            continue;
        }
        if kind.is_dir() {
            search(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    Ok(())
}
