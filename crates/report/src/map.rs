//! The causal path between two bottlenecks, drawn.

use hindcast_atlas::{MechanismIx, Subject};
use hindcast_verdict::{Reader, RelationKind, Verdict};
use maud::{Markup, html};

/// Width and height of a box and the gap between two, in pixels.
const BOX: (usize, usize) = (232, 44);
const GAP: usize = 56;

/// A box of the drawing.
struct Node {
    label: String,
    who: &'static str,
    class: &'static str,
}

/// The words of a drawing.
#[derive(Debug, Clone, Copy)]
pub struct MapWords {
    /// The engineers' position.
    pub engineers: &'static str,
    /// The skill's position.
    pub skill: &'static str,
    /// Where both are.
    pub both: &'static str,
    /// What two siblings share.
    pub shared: &'static str,
    /// A side that names nothing.
    pub nothing: &'static str,
}

impl Default for MapWords {
    fn default() -> Self {
        Self {
            engineers: "engineers",
            skill: "skill",
            both: "engineers and skill",
            shared: "shared",
            nothing: "no bottleneck named",
        }
    }
}

/// The drawing of how the two bottlenecks relate.
#[must_use]
pub fn causal_map(reader: &Reader, verdict: &Verdict, words: &MapWords) -> Markup {
    let theirs = verdict.human.bottleneck.map(|stated| stated.value);
    let skills = verdict.skill.bottleneck.map(|stated| stated.value);
    let ids: Vec<MechanismIx> = verdict.relation.path.clone();
    let same = |ix: MechanismIx, subject: Option<Subject>| subject == Some(Subject::Mechanism(ix));
    let label = |subject: Option<Subject>| subject.map_or_else(|| words.nothing.to_owned(), |s| reader.subject_name(s));
    let (nodes, arrows): (Vec<Node>, &str) = match verdict.relation.kind {
        RelationKind::Same | RelationKind::Refines => (vec![node(label(theirs), words.both, "both")], ""),
        RelationKind::Upstream | RelationKind::Downstream => {
            let nodes = ids.iter().map(|ix| match (same(*ix, theirs), same(*ix, skills)) {
                (true, _) => node(reader.atlas[*ix].id.clone(), words.engineers, "human"),
                (_, true) => node(reader.atlas[*ix].id.clone(), words.skill, "skill"),
                _ => node(reader.atlas[*ix].id.clone(), "", "between"),
            });
            (nodes.collect(), "→")
        }
        RelationKind::Sibling => {
            let shared = verdict.relation.shared.map(|ix| reader.atlas[ix].id.clone()).unwrap_or_default();
            let nodes = vec![
                node(label(theirs), words.engineers, "human"),
                node(shared, words.shared, "between"),
                node(label(skills), words.skill, "skill"),
            ];
            (nodes, "·")
        }
        _ => (vec![node(label(theirs), words.engineers, "human"), node(label(skills), words.skill, "skill")], "≠"),
    };
    let width = nodes.len() * (BOX.0 + GAP) - GAP + 4;
    let described = nodes.iter().map(|node| node.label.as_str()).collect::<Vec<_>>().join(&format!(" {arrows} "));
    html! {
        div.map {
            svg width=(width) height=(BOX.1 + 24) role="img" aria-label=(described) {
                @for (at, node) in nodes.iter().enumerate() {
                    @let x = at * (BOX.0 + GAP) + 2;
                    rect.(node.class) data-subject=(node.label) x=(x) y="2" width=(BOX.0) height=(BOX.1) {}
                    text x=(x + BOX.0 / 2) y=(BOX.1 / 2 + 7) { (node.label) }
                    text.who x=(x + BOX.0 / 2) y=(BOX.1 + 18) { (node.who) }
                    @if at + 1 < nodes.len() {
                        text.arrow x=(x + BOX.0 + GAP / 2) y=(BOX.1 / 2 + 9) { (arrows) }
                    }
                }
            }
        }
    }
}

fn node(label: String, who: &'static str, class: &'static str) -> Node {
    Node { label, who, class }
}
