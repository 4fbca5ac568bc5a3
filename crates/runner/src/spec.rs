//! Whether a pack keeps to the Agent Skills specification (<https://agentskills.io/specification>).

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::pack::SkillPack;

/// Lines of a `SKILL.md` from which on the specification advises to split it.
const MAX_LINES: usize = 500;

/// What is wrong with a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// Whether agents may refuse the pack for it.
    pub is_error: bool,
    /// What is wrong, and what was expected.
    pub message: String,
}

#[derive(Deserialize)]
struct FrontMatter {
    name: Option<String>,
    description: Option<String>,
    license: Option<String>,
    compatibility: Option<String>,
    metadata: Option<BTreeMap<String, String>>,
    #[serde(rename = "allowed-tools")]
    allowed_tools: Option<String>,
    #[serde(flatten)]
    others: BTreeMap<String, serde_json::Value>,
}

/// Checks a pack: front matter, names, lengths, links, references that nothing leads to.
#[must_use]
pub fn check_pack(pack: &SkillPack) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    let Some(skill) = pack.file("SKILL.md") else { return flaws };
    let mut flaw = |line: usize, is_error: bool, message: String| {
        flaws.push(Flaw { path: "SKILL.md".to_owned(), line, is_error, message });
    };
    let text = String::from_utf8_lossy(&skill.bytes);
    match front_matter(&text) {
        Ok(front) => check_front(pack, &text, &front, &mut flaw),
        Err((line, message)) => flaw(line, true, message),
    }
    let lines = text.lines().count();
    if lines > MAX_LINES {
        flaw(
            MAX_LINES,
            false,
            format!("has {lines} lines; the specification advises fewer than {MAX_LINES}: move detail to references/"),
        );
    }
    check_links(pack, &mut flaws);
    flaws.sort_by(|one, other| (&one.path, one.line, &one.message).cmp(&(&other.path, other.line, &other.message)));
    flaws
}

fn front_matter(text: &str) -> Result<FrontMatter, (usize, String)> {
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"));
    let Some(rest) = rest else {
        return Err((1, "has no front matter; expected \"---\", name and description, \"---\" at the top".to_owned()));
    };
    let Some(end) = rest.find("\n---") else { return Err((1, "the front matter is not closed by \"---\"".to_owned())) };
    serde_saphyr::from_str(&rest[..end + 1]).map_err(|error| {
        let message = error.to_string();
        (1, format!("the front matter is no YAML: {}", message.lines().next().unwrap_or_default()))
    })
}

fn check_front(pack: &SkillPack, text: &str, front: &FrontMatter, flaw: &mut impl FnMut(usize, bool, String)) {
    let line_of = |key: &str| {
        let found = text.lines().position(|line| line.starts_with(key) && line[key.len()..].starts_with(':'));
        found.map_or(1, |index| index + 1)
    };
    match front.name.as_deref() {
        None => flaw(1, true, "the front matter has no name".to_owned()),
        Some(name) => {
            let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
            let is_well_formed = is_plain && !name.starts_with('-') && !name.ends_with('-') && !name.contains("--");
            if name.is_empty() || name.len() > 64 || !is_well_formed {
                flaw(
                    line_of("name"),
                    true,
                    format!("the name {name:?} is not 1 to 64 lower-case letters, digits and single dashes"),
                );
            } else if name != pack.name {
                flaw(line_of("name"), true, format!("the name {name:?} is not that of the folder, {:?}", pack.name));
            }
        }
    }
    match front.description.as_deref().map(str::trim) {
        None | Some("") => flaw(1, true, "the front matter has no description: agents choose skills by it".to_owned()),
        Some(description) if description.chars().count() > 1024 => {
            let count = description.chars().count();
            flaw(
                line_of("description"),
                true,
                format!("the description has {count} characters; at most 1024 are allowed"),
            );
        }
        Some(_) => {}
    }
    if front.compatibility.as_deref().is_some_and(|text| text.is_empty() || text.chars().count() > 500) {
        flaw(line_of("compatibility"), true, "compatibility is not 1 to 500 characters".to_owned());
    }
    for key in front.others.keys() {
        flaw(line_of(key), false, format!("{key:?} is no field of the specification; put it under metadata"));
    }
    let _ = (&front.license, &front.metadata, &front.allowed_tools);
}

/// Links between the pack's files, and files below `references/` that no link leads to.
fn check_links(pack: &SkillPack, flaws: &mut Vec<Flaw>) {
    let mut reached: Vec<&str> = vec!["SKILL.md"];
    let mut at = 0;
    while let Some(path) = reached.get(at).copied() {
        at += 1;
        let Some(file) = pack.file(path).filter(|_| path.ends_with(".md")) else { continue };
        let text = String::from_utf8_lossy(&file.bytes);
        for (line, target, is_link) in mentions(&text) {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let places = [resolve(folder, &target), resolve("", &target)];
            let found = places.iter().flatten().find_map(|place| pack.file(place));
            match found {
                Some(file) if !reached.contains(&file.path.as_str()) => reached.push(&file.path),
                Some(_) => {}
                None if is_link => {
                    let near = pack
                        .files
                        .iter()
                        .map(|file| file.path.as_str())
                        .find(|path| path.rsplit('/').next().is_some_and(|name| target.ends_with(name)));
                    let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
                    let message = format!("{target:?} is not in the pack{hint}");
                    flaws.push(Flaw { path: path.to_owned(), line, is_error: true, message });
                }
                None => {}
            }
        }
    }
    for file in pack.files.iter().filter(|file| file.path.starts_with("references/")) {
        if !reached.contains(&file.path.as_str()) {
            let message = "nothing leads here from SKILL.md: an agent won't find it".to_owned();
            flaws.push(Flaw { path: file.path.clone(), line: 1, is_error: false, message });
        }
    }
}

/// Targets of Markdown links, and paths in code marks, with their lines.
fn mentions(text: &str) -> Vec<(usize, String, bool)> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (at, _) in line.match_indices("](") {
            let target: String = line[at + 2..].chars().take_while(|c| !matches!(c, ')' | ' ' | '#')).collect();
            let is_local = !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:");
            if is_local {
                found.push((index + 1, target, true));
            }
        }
        for code in line.split('`').skip(1).step_by(2) {
            if code.contains(".md") && !code.contains(' ') {
                found.push((index + 1, code.to_owned(), false));
            }
        }
    }
    found
}

/// A path inside the pack, from a folder of it; none where it leads out.
fn resolve(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
