//! The names that people and models give to the fields of a conclusion, in English and Chinese.

use serde_json::{Map, Value, json};

/// Fields that hold lists.
pub(crate) const LISTS: [&str; 4] =
    ["activated_subcapabilities", "reference_files_consulted", "key_evidence", "missing_evidence"];

/// Labels by field. They are compared without case, spaces, dashes and underscores.
const LABELS: [(&str, &[&str]); 11] = [
    ("entry_mode", &["entry mode", "entry", "mode", "route", "入口模式", "入口", "诊断入口", "诊断模式"]),
    (
        "activated_subcapabilities",
        &["activated subcapabilities", "subcapabilities", "sub capabilities", "激活的子能力", "子能力", "使用的子能力"],
    ),
    (
        "reference_files_consulted",
        &[
            "reference files consulted",
            "references consulted",
            "references",
            "consulted references",
            "参考文件",
            "查阅的参考文件",
            "查阅文件",
            "引用文件",
        ],
    ),
    (
        "is_tikv_side",
        &["is tikv side", "tikv side", "side", "是否 tikv 侧", "是否 tikv 问题", "是否为 tikv 侧", "归属"],
    ),
    ("scope", &["scope", "affected scope", "影响范围", "范围"]),
    ("path", &["path", "affected path", "路径", "慢路径", "影响路径"]),
    (
        "earliest_proven_bottleneck",
        &[
            "earliest proven bottleneck",
            "earliest bottleneck",
            "bottleneck",
            "root cause",
            "最早被证实的瓶颈",
            "最早证实的瓶颈",
            "最早可证瓶颈",
            "最早瓶颈",
            "瓶颈",
            "根因",
            "根本原因",
        ],
    ),
    ("key_evidence", &["key evidence", "evidence", "supporting evidence", "关键证据", "证据", "依据"]),
    (
        "missing_evidence",
        &["missing evidence", "evidence missing", "needed evidence", "缺失证据", "缺少的证据", "待补充证据"],
    ),
    (
        "uncertainty_statement",
        &["uncertainty statement", "uncertainty", "confidence", "不确定性说明", "不确定性", "置信度"],
    ),
    (
        "provisional_conclusion",
        &[
            "provisional conclusion",
            "conclusion",
            "final conclusion",
            "diagnosis",
            "summary",
            "初步结论",
            "结论",
            "最终结论",
            "诊断结论",
            "总结",
        ],
    ),
];

/// The field that a label means.
pub(crate) fn field_named(label: &str) -> Option<&'static str> {
    let label = fold(label);
    if label.is_empty() || label.len() > 80 {
        return None;
    }
    LABELS
        .iter()
        .find(|(field, names)| fold(field) == label || names.iter().any(|name| fold(name) == label))
        .map(|(field, _)| *field)
}

fn fold(label: &str) -> String {
    label.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// An answer in labelled parts: YAML, headings, bold labels, a table. None where fewer than two fields are named.
pub(crate) fn read_labelled(text: &str) -> Option<Value> {
    let mut fields: Map<String, Value> = Map::new();
    let mut current: Option<&'static str> = None;
    let mut named = 0;
    for line in text.lines() {
        let labelled = table_row(line).or_else(|| label_of(line));
        if let Some((field, rest)) = labelled {
            named += 1;
            // What is said last counts.
            fields.insert(field.to_owned(), json!([]));
            current = Some(field);
            add(&mut fields, field, rest);
        } else if is_heading(line) || is_rule(line) {
            current = None;
        } else if let Some(field) = current {
            add(&mut fields, field, line);
        }
    }
    if named < 2 {
        return None;
    }
    for (field, value) in &mut fields {
        if !LISTS.contains(&field.as_str()) {
            let lines = value.as_array().map(|lines| lines.iter().filter_map(Value::as_str).collect::<Vec<_>>());
            *value = json!(lines.unwrap_or_default().join("\n"));
        }
    }
    Some(Value::Object(fields))
}

fn add(fields: &mut Map<String, Value>, field: &str, line: &str) {
    let text = unmarked(line.trim().trim_start_matches(['-', '*', '+', '•', '>']).trim());
    let text = text.trim_matches(['|', ' ']);
    if text.is_empty() || text == "[]" {
        return;
    }
    let Some(Value::Array(lines)) = fields.get_mut(field) else { return };
    let is_inline_list = text.starts_with('[') && text.ends_with(']');
    if LISTS.contains(&field)
        && (is_inline_list || matches!(field, "activated_subcapabilities" | "reference_files_consulted"))
    {
        let inner = text.trim_start_matches('[').trim_end_matches(']');
        lines.extend(inner.split([',', '，', '、']).map(|one| json!(one.trim().trim_matches(['"', '\'', '`']))));
    } else {
        lines.push(json!(text));
    }
}

/// A line that only separates: `---`, `|---|---|`, a fence.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && line.chars().all(|c| matches!(c, '-' | '|' | ':' | ' ' | '=' | '`'))
}

fn is_heading(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// `key: value`, `**key**: value`, `## key`.
fn label_of(line: &str) -> Option<(&'static str, &str)> {
    let trimmed = line.trim();
    if let Some(heading) = trimmed.strip_prefix('#') {
        let title = heading.trim_start_matches('#').trim().trim_matches(['*', ':', '：', ' ']);
        let title = title.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' ' | '、'));
        return field_named(title).map(|field| (field, "")).or_else(|| split_label(title));
    }
    split_label(trimmed.trim_start_matches(['-', '*', '+', '•', ' ']))
}

fn split_label(text: &str) -> Option<(&'static str, &str)> {
    let at = text.find([':', '：'])?;
    let (label, rest) = text.split_at(at);
    // A key of JSON is no label: what is read as JSON was read before, or is no answer.
    if label.contains(['"', '{']) {
        return None;
    }
    let rest = rest.trim_start_matches([':', '：', '*', ' ', '_']);
    field_named(label.trim_matches(['*', '_', '`', '"', ' ', '【', '】'])).map(|field| (field, rest))
}

/// `| key | value |`.
fn table_row(line: &str) -> Option<(&'static str, &str)> {
    let row = line.trim().strip_prefix('|')?;
    let (label, rest) = row.split_once('|')?;
    field_named(label.trim().trim_matches(['*', '`'])).map(|field| (field, rest.trim().trim_end_matches('|').trim()))
}

/// A value without quotes, code marks and emphasis around it.
fn unmarked(text: &str) -> &str {
    let mut text = text.trim();
    for mark in ["**", "`", "\"", "'"] {
        if let Some(inner) = text.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark)) {
            text = inner.trim();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_known_in_both_languages() {
        assert_eq!(field_named("**Entry Mode**"), Some("entry_mode"));
        assert_eq!(field_named("earliest_proven_bottleneck"), Some("earliest_proven_bottleneck"));
        assert_eq!(field_named("是否 TiKV 侧"), Some("is_tikv_side"));
        assert_eq!(field_named("时间"), None);
    }

    #[test]
    fn labelled_parts_are_read() {
        for text in [
            "## Entry mode\nio_jitter\n\n## Key evidence\n- a is 3 s\n- b is 4 s\n\n## Conclusion\nthe disk hung",
            "**Entry mode**: `io_jitter`\n**Key evidence**:\n* a is 3 s\n* b is 4 s\n\n**Conclusion**：the disk hung",
            "entry_mode: io_jitter\nkey_evidence:\n  - a is 3 s\n  - \"b is 4 s\"\nprovisional_conclusion: the disk hung",
            "| 入口模式 | io_jitter |\n|---|---|\n| 关键证据 | [a is 3 s, b is 4 s] |\n| 结论 | the disk hung |",
            "1. hello\n### 1. 入口模式：io_jitter\n### 2. 关键证据\n- a is 3 s\n- b is 4 s\n### 3. 结论\nthe disk hung\n### 其他\nother",
        ] {
            let value = read_labelled(text).expect(text);
            assert_eq!(value["entry_mode"], "io_jitter", "{text}");
            assert_eq!(value["key_evidence"], json!(["a is 3 s", "b is 4 s"]), "{text}");
            assert_eq!(value["provisional_conclusion"], "the disk hung", "{text}");
        }
        assert_eq!(read_labelled("The root cause: a slow disk."), None);
        assert_eq!(
            read_labelled("{\n \"entry_mode\": {\n \"type\": \"string\"},\n \"scope\": {}"),
            None,
            "JSON has keys"
        );
    }
}
