//! Findings as SARIF 2.1.0, for code review tools.

use hindcast_case::{Code, Severity};
use serde_json::{Value, json};

use crate::commands::check::Finding;

/// One log with one run.
pub(crate) fn log(findings: &[Finding]) -> Value {
    let rules: Vec<Value> = Code::ALL
        .iter()
        .map(|code| {
            let (summary, body) = code.explanation().split_once('\n').unwrap_or_default();
            json!({
                "id": code.as_str(),
                "shortDescription": { "text": summary.trim_start_matches("# ") },
                "fullDescription": { "text": body.trim() },
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "hindcast", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": findings.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn result(finding: &Finding) -> Value {
    let level = match finding.diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let help = finding.diagnostic.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
    json!({
        "ruleId": finding.diagnostic.code.as_str(),
        "level": level,
        "message": { "text": format!("{}{help}", finding.diagnostic.message) },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": finding.path.display().to_string() },
                "region": { "startLine": finding.position.line, "startColumn": finding.position.column },
            },
        }],
    })
}
