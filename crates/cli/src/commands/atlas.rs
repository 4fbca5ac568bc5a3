//! `hindcast atlas`: the mechanisms.

use std::fmt::Write as _;
use std::path::Path;

use hindcast_atlas::{Atlas, LoadError, Mechanism, MechanismIx, Subject, check};
use hindcast_text::TextReader;
use serde_json::{Value, json};

use crate::args::{AtlasCommand, Format, GraphFormat};
use crate::failure::{Failure, Outcome};
use crate::output;

/// The atlas of a folder, or the one that ships with the program.
pub(crate) fn load(dir: Option<&Path>) -> Result<Atlas, Failure> {
    match dir {
        None => Ok(Atlas::embedded()),
        Some(dir) => Atlas::load(dir).map_err(|error| Failure::new(error.to_string())),
    }
}

/// Checks an atlas. One that can't even be loaded has a finding, unless it is no atlas at all.
pub(crate) fn check_folder(dir: Option<&Path>, format: Format) -> Result<Outcome, Failure> {
    let Some(dir) = dir else { return findings(&Atlas::embedded(), format) };
    match Atlas::load(dir) {
        Ok(atlas) => findings(&atlas, format),
        Err(error @ (LoadError::Read { .. } | LoadError::Empty(_))) => Err(Failure::new(error.to_string())),
        Err(error) => {
            match format {
                Format::Json => output::print_json(
                    &json!([{"code": "atlas/not-loadable", "mechanism": "", "message": error.to_string()}]),
                )?,
                Format::Text => output::print(&format!("error[atlas/not-loadable]: {error}\n"))?,
            }
            Ok(Outcome::Findings)
        }
    }
}

pub(crate) fn run(command: &AtlasCommand, atlas: &Atlas) -> Result<Outcome, Failure> {
    match command {
        AtlasCommand::List { format } => list(atlas, *format),
        AtlasCommand::Show { id, format } => show(atlas, id, *format),
        AtlasCommand::Match { text, format } => matches(atlas, text, *format),
        AtlasCommand::Check { format } => findings(atlas, *format),
        AtlasCommand::Graph { format } => graph(atlas, *format),
        AtlasCommand::Export { pack, check } => super::atlas_export::run(atlas, pack.as_deref(), *check),
    }
}

fn list(atlas: &Atlas, format: Format) -> Result<Outcome, Failure> {
    match format {
        Format::Json => {
            let all: Vec<Value> = atlas
                .mechanisms()
                .map(|(_, m)| json!({"id": m.id, "title": m.title, "entry_mode": m.entry_mode.to_string(), "path": m.path.to_string(), "is_tikv_side": m.is_tikv_side.to_string(), "role": m.role.as_str()}))
                .collect();
            output::print_json(&json!(all))?;
        }
        Format::Text => {
            let mut text = String::new();
            for (_, m) in atlas.mechanisms() {
                writeln!(text, "{:<32} {:<24} {:<13} {}", m.id, m.entry_mode, m.role.as_str(), m.title)
                    .expect("writing to a string does not fail");
            }
            output::print(&text)?;
        }
    }
    Ok(Outcome::Clean)
}

fn show(atlas: &Atlas, id: &str, format: Format) -> Result<Outcome, Failure> {
    let Some(resolved) = atlas.resolve(id) else {
        let failure = Failure::new(format!("the atlas has no mechanism {id:?}"));
        return Err(match atlas.nearest_id(id) {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None => failure.help("hindcast atlas list"),
        });
    };
    let ix = resolved.mechanism();
    match format {
        Format::Json => output::print_json(&mechanism_json(atlas, ix))?,
        Format::Text => output::print(&mechanism_text(atlas, ix))?,
    }
    Ok(Outcome::Clean)
}

fn names(atlas: &Atlas, all: &[MechanismIx]) -> Vec<String> {
    all.iter().map(|ix| atlas[*ix].id.clone()).collect()
}

/// Ids with their distance: "disk_io_jitter (2)".
fn with_distance(atlas: &Atlas, all: &[(MechanismIx, u8)]) -> Vec<String> {
    all.iter().map(|(ix, edges)| format!("{} ({edges})", atlas[*ix].id)).collect()
}

fn mechanism_text(atlas: &Atlas, ix: MechanismIx) -> String {
    let m: &Mechanism = &atlas[ix];
    let scope = m.scope.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut lines = vec![
        format!("{}\n{}\n", m.id, m.title),
        format!("entry mode   {}", m.entry_mode),
        format!("path         {}", m.path),
        format!("TiKV's side  {} (component: {})", m.is_tikv_side, m.side.as_str()),
        format!("role         {}", m.role.as_str()),
        format!("scope        {}", scope.join(", ")),
        format!("reference    {}", m.reference),
    ];
    let mut list = |label: &str, items: Vec<String>| {
        if !items.is_empty() {
            lines.push(format!("{label:<12} {}", items.join(", ")));
        }
    };
    list("causes", with_distance(atlas, &atlas.ancestors(ix)));
    list("effects", with_distance(atlas, &atlas.descendants(ix)));
    list("siblings", names(atlas, &atlas.siblings(ix)));
    list("feeds back", names(atlas, atlas.feedback(ix)));
    list("covers", m.covers.clone());
    list("English", m.aliases_en.clone());
    list("Chinese", m.aliases_zh.clone());
    lines.push("\nEvidence".to_owned());
    for e in &m.evidence {
        lines.push(format!("  {}: {}", e.metric, e.shape));
        lines.extend(
            [&e.promql, &e.threshold, &e.source]
                .into_iter()
                .filter(|text| !text.is_empty())
                .map(|text| format!("      {text}")),
        );
    }
    lines.push("\nRefuted by".to_owned());
    lines.extend(m.refuted_by.iter().map(|text| format!("  - {text}")));
    if !m.log_patterns.is_empty() {
        lines.push("\nLog patterns".to_owned());
        lines.extend(m.log_patterns.iter().map(|text| format!("  {text}")));
    }
    if !m.note.is_empty() {
        lines.push(format!("\n{}", m.note));
    }
    lines.push(format!("\nSources: {}\n", m.sources.join(", ")));
    lines.join("\n")
}

fn mechanism_json(atlas: &Atlas, ix: MechanismIx) -> Value {
    let m = &atlas[ix];
    let far = |all: Vec<(MechanismIx, u8)>| -> Vec<Value> {
        all.iter().map(|(ix, edges)| json!({"id": atlas[*ix].id, "edges": edges})).collect()
    };
    json!({
        "id": m.id,
        "title": m.title,
        "entry_mode": m.entry_mode.to_string(),
        "also_entry_modes": m.also_entry_modes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "path": m.path.to_string(),
        "component": m.side.as_str(),
        "is_tikv_side": m.is_tikv_side.to_string(),
        "role": m.role.as_str(),
        "scope": m.scope.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "reference": m.reference.to_string(),
        "causes": names(atlas, atlas.causes(ix)),
        "effects": names(atlas, atlas.effects(ix)),
        "ancestors": far(atlas.ancestors(ix)),
        "descendants": far(atlas.descendants(ix)),
        "siblings": names(atlas, &atlas.siblings(ix)),
        "feeds_back_to": names(atlas, atlas.feedback(ix)),
        "covers": m.covers,
        "aliases_en": m.aliases_en,
        "aliases_zh": m.aliases_zh,
        "phrases": m.phrases,
        "metrics": m.metrics,
        "evidence": m.evidence.iter().map(|e| json!({"metric": e.metric, "promql": e.promql, "shape": e.shape, "threshold": e.threshold, "source": e.source, "since": e.since})).collect::<Vec<_>>(),
        "refuted_by": m.refuted_by,
        "log_patterns": m.log_patterns,
        "sources": m.sources,
    })
}

fn matches(atlas: &Atlas, text: &str, format: Format) -> Result<Outcome, Failure> {
    let reading = TextReader::new(atlas).read(atlas, text);
    let name = |subject: Subject| match subject {
        Subject::Mechanism(ix) => atlas[ix].id.clone(),
        Subject::Family(family) => format!("({})", atlas.family_name(family)),
    };
    let role = |span| {
        reading.claims.claims.iter().find(|claim| claim.span == span).map_or("mentioned", |claim| claim.role.as_str())
    };
    let found: Vec<(usize, usize, String, &str)> = reading
        .scan
        .mentions
        .iter()
        .map(|mention| (mention.span.start, mention.span.end, name(mention.subject), role(mention.span)))
        .collect();
    match format {
        Format::Json => {
            let all = found.iter().map(|(start, end, name, role)| json!({"mechanism": name, "role": role, "span": [start, end], "text": &text[*start..*end]}));
            output::print_json(&json!(all.collect::<Vec<_>>()))?;
        }
        Format::Text => {
            let lines = found.iter().map(|(start, end, name, role)| {
                format!("{start:>4}..{end:<4} {role:<13} {name:<30} \"{}\"\n", &text[*start..*end])
            });
            let text: String = lines.collect();
            output::print(if text.is_empty() { "no mechanism is mentioned\n" } else { &text })?;
        }
    }
    Ok(if found.is_empty() { Outcome::Findings } else { Outcome::Clean })
}

fn findings(atlas: &Atlas, format: Format) -> Result<Outcome, Failure> {
    let found = check(atlas);
    match format {
        Format::Json => {
            let all = found.iter().map(|f| json!({"code": f.code, "mechanism": f.mechanism, "message": f.message}));
            output::print_json(&json!(all.collect::<Vec<_>>()))?;
        }
        Format::Text => {
            let lines: String =
                found.iter().map(|f| format!("{}: error[{}]: {}\n", f.mechanism, f.code, f.message)).collect();
            output::print(&lines)?;
            let queries: usize =
                atlas.mechanisms().map(|(_, m)| m.evidence.iter().filter(|e| !e.promql.is_empty()).count()).sum();
            anstream::eprintln!(
                "{} mechanisms, {queries} queries checked: {} finding(s)",
                atlas.mechanisms().count(),
                found.len()
            );
        }
    }
    Ok(if found.is_empty() { Outcome::Clean } else { Outcome::Findings })
}

fn graph(atlas: &Atlas, format: GraphFormat) -> Result<Outcome, Failure> {
    let mut text = String::new();
    text.push_str(match format {
        GraphFormat::Mermaid => "flowchart LR\n",
        GraphFormat::Dot => "digraph atlas {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n",
    });
    for (_, m) in atlas.mechanisms() {
        text.push_str(&match format {
            GraphFormat::Mermaid => format!("  {}[\"{}\"]\n", m.id, m.title.replace('"', "#quot;")),
            GraphFormat::Dot => {
                format!("  {} [label=\"{}\"];\n", m.id, m.title.replace('\\', "\\\\").replace('"', "\\\""))
            }
        });
    }
    for (ix, m) in atlas.mechanisms() {
        for effect in atlas.effects(ix) {
            text.push_str(&match format {
                GraphFormat::Mermaid => format!("  {} --> {}\n", m.id, atlas[*effect].id),
                GraphFormat::Dot => format!("  {} -> {};\n", m.id, atlas[*effect].id),
            });
        }
        for effect in atlas.feedback(ix) {
            text.push_str(&match format {
                GraphFormat::Mermaid => format!("  {} -. feeds back .-> {}\n", m.id, atlas[*effect].id),
                GraphFormat::Dot => format!("  {} -> {} [style=dashed, constraint=false];\n", m.id, atlas[*effect].id),
            });
        }
    }
    if format == GraphFormat::Dot {
        text.push_str("}\n");
    }
    output::print(&text)?;
    Ok(Outcome::Clean)
}
