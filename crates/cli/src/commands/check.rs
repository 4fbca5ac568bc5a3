//! `hindcast check`: case files, linted.

use std::path::{Path, PathBuf};

use hindcast_case::{Case, Code, Diagnostic, Position, Reading, Severity, Source};
use hindcast_report::Colours;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource};
use serde_json::json;

use crate::args::{CheckArguments, CheckFormat};
use crate::commands::{files, sarif};
use crate::failure::{Failure, Outcome};
use crate::output;

/// A finding with the file that it stands in.
pub(crate) struct Finding {
    pub(crate) path: PathBuf,
    pub(crate) position: Position,
    pub(crate) diagnostic: Diagnostic,
}

/// How many findings had which severity.
#[derive(Default)]
struct Counts {
    files: usize,
    unreadable: usize,
    fixed: usize,
    errors: usize,
    warnings: usize,
    notes: usize,
}

pub(crate) fn run(arguments: &CheckArguments) -> Result<Outcome, Failure> {
    let mut counts = Counts::default();
    let mut findings = Vec::new();
    for path in files::case_files(&arguments.paths)? {
        let mut bytes = match files::read_bytes(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                anstream::eprintln!("can't read {}: {error}", path.display());
                counts.unreadable += 1;
                continue;
            }
        };
        let mut reading = read(&bytes, arguments);
        counts.files += 1;
        if arguments.fix
            && let Some(case) = &reading.value
            && case.to_json().as_bytes() != bytes
        {
            let fixed = case.to_json();
            output::write_atomically(&path, &fixed)?;
            anstream::eprintln!("fixed {}", path.display());
            counts.fixed += 1;
            bytes = fixed.into_bytes();
            reading = read(&bytes, arguments);
        }
        for diagnostic in reading.diagnostics {
            match diagnostic.severity {
                Severity::Error => counts.errors += 1,
                Severity::Warning => counts.warnings += 1,
                Severity::Note => counts.notes += 1,
            }
            if arguments.format == CheckFormat::Text {
                output::print(&render(&path, &bytes, &diagnostic))?;
            } else {
                let position = files::position(&bytes, &diagnostic);
                findings.push(Finding { path: path.clone(), position, diagnostic });
            }
        }
    }
    match arguments.format {
        CheckFormat::Text => summary(&counts),
        CheckFormat::Json => output::print_json(&json!(findings.iter().map(finding_json).collect::<Vec<_>>()))?,
        CheckFormat::Sarif => output::print_json(&sarif::log(&findings))?,
    }
    if counts.unreadable > 0 {
        return Err(Failure::new(format!("{} file(s) could not be read", counts.unreadable)));
    }
    let clean = counts.errors + counts.warnings + counts.notes == 0;
    Ok(if clean { Outcome::Clean } else { Outcome::Findings })
}

fn read(bytes: &[u8], arguments: &CheckArguments) -> Reading<Case> {
    let mut reading = hindcast_case::read(bytes);
    if arguments.strict {
        refuse_extensions(bytes, &mut reading);
    }
    reading
}

/// Reports a source outside the user's two, and keys of other projects.
fn refuse_extensions(bytes: &[u8], reading: &mut Reading<Case>) {
    let Some(case) = &reading.value else { return };
    let (field, value, code, message, help) = if case.source == Some(Source::Github) {
        let message = "source `github` is hindcast's extension, not in the user's specification".to_owned();
        ("source", "github", Code::SourceNotStrict, message, "expected `jira_gtoc` or `pingkai`")
    } else if case.source == Some(case.incident_id.source()) {
        return;
    } else {
        let message = format!("{} is neither of project GTOC nor a PingKai ticket", case.incident_id);
        (
            "incident_id",
            case.incident_id.as_str(),
            Code::IdSourceMismatch,
            message,
            "expected an id as GTOC-1234 or TICKET-8412",
        )
    };
    let text = String::from_utf8_lossy(bytes);
    let at = text.find(&format!("\"{value}\"")).or_else(|| text.find(&format!("\"{field}\""))).unwrap_or_default();
    reading.diagnostics.push(Diagnostic {
        code,
        severity: Severity::Error,
        field: field.to_owned(),
        span: hindcast_case::Span::new(at, at + value.len() + 2),
        message,
        help: Some(format!("{help}; without --strict it is accepted")),
    });
    reading.diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
}

fn finding_json(finding: &Finding) -> serde_json::Value {
    let Diagnostic { code, severity, field, message, help, .. } = &finding.diagnostic;
    json!({
        "file": finding.path.display().to_string(),
        "line": finding.position.line,
        "column": finding.position.column,
        "code": code.as_str(),
        "severity": severity.as_str(),
        "field": field,
        "message": message,
        "help": help,
    })
}

fn summary(counts: &Counts) {
    let Counts { files, fixed, errors, warnings, notes, .. } = counts;
    let fixed = if *fixed > 0 { format!(", {fixed} fixed") } else { String::new() };
    anstream::eprintln!("{files} file(s) checked{fixed}: {errors} error(s), {warnings} warning(s), {notes} note(s)");
}

/// A finding as a compiler shows it, with the line that it stands in.
fn render(path: &Path, bytes: &[u8], diagnostic: &Diagnostic) -> String {
    let heading = files::one_line(path, bytes, &Diagnostic { help: None, ..diagnostic.clone() });
    let drawable = std::str::from_utf8(bytes).ok().filter(|text| has_short_line(text, diagnostic.span.start));
    let Some(text) = drawable else {
        // Bytes that are no text make no picture, and a file on one line would fill the screen.
        let help = diagnostic.help.as_ref().map(|help| format!("  help: {help}\n")).unwrap_or_default();
        return format!("{heading}\n{help}\n");
    };
    let text = hindcast_report::printable(text).into_owned();
    let theme = match output::colours() {
        Colours::On => GraphicalTheme::unicode(),
        Colours::Off => GraphicalTheme::unicode_nocolor(),
    };
    let start = floor_boundary(&text, diagnostic.span.start);
    // A long value is shown by its first line.
    let end = diagnostic.span.end.min(text.len());
    let end = text.get(start..end).map_or(start, |part| start + part.find('\n').unwrap_or(part.len()));
    let severity = match diagnostic.severity {
        Severity::Error => miette::Severity::Error,
        Severity::Warning => miette::Severity::Warning,
        Severity::Note => miette::Severity::Advice,
    };
    let label = LabeledSpan::new(
        Some(diagnostic.field.clone()).filter(|field| !field.is_empty()),
        start,
        end.saturating_sub(start),
    );
    let mut report = miette::MietteDiagnostic::new(&diagnostic.message)
        .with_code(diagnostic.code.as_str())
        .with_severity(severity)
        .with_label(label);
    if let Some(help) = &diagnostic.help {
        report = report.with_help(help);
    }
    let report = miette::Report::new(report).with_source_code(NamedSource::new(path.display().to_string(), text));
    let mut out = String::new();
    let rendered =
        GraphicalReportHandler::new_themed(theme).with_context_lines(1).render_report(&mut out, report.as_ref());
    rendered.expect("writing to a string does not fail");
    // The line above the picture says where and what, as compilers do; miette's own heading would say it again.
    let lines = out.lines().skip_while(|line| !line.contains("╭─["));
    let picture: Vec<String> = lines.map(|line| line.chars().take(LONGEST_LINE).collect()).collect();
    format!("{heading}\n{}\n\n", picture.join("\n"))
}

/// The longest line that is shown: a terminal full of one.
const LONGEST_LINE: usize = 2_000;

/// Whether the line around `at` is short enough to be shown.
fn has_short_line(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let at = at.min(bytes.len());
    let before = bytes[..at].iter().rev().take(LONGEST_LINE).take_while(|byte| **byte != b'\n').count();
    let after = bytes[at..].iter().take(LONGEST_LINE).take_while(|byte| **byte != b'\n').count();
    before + after < LONGEST_LINE
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}
