//! The rubric as data: `rubric.toml`.

use std::collections::BTreeMap;

use hindcast_case::{MatchLevel, Path, Scope, TikvSide, Vocabulary};
use serde::Deserialize;

/// What decides a verdict.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rubric {
    rule: Vec<Rule>,
    paths: Paths,
    scopes: Scopes,
    sides: Sides,
}

/// One rule; absent conditions hold.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub(crate) id: String,
    level: String,
    pub(crate) why: String,
    human: Option<HumanCondition>,
    side: Option<Compatible>,
    path: Option<Compatible>,
    scope: Option<ScopeCondition>,
    entry_mode: Option<Right>,
    #[serde(default)]
    bottleneck: Vec<RelationKind>,
    max_edges: Option<u8>,
    ruled_out: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum HumanCondition {
    Unclear,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Compatible {
    Compatible,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ScopeCondition {
    Contradicts,
    Agrees,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Right {
    Right,
}

/// How the skill's bottleneck relates to the engineers'.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RelationKind {
    /// The same mechanism.
    Same,
    /// A finer mechanism of the same kind.
    Refines,
    /// A cause of it.
    Upstream,
    /// A consequence of it.
    Downstream,
    /// They share a direct cause or effect.
    Sibling,
    /// No connection.
    Unrelated,
    /// The skill names no bottleneck.
    None,
    /// The skill names something that the atlas doesn't know.
    Unknown,
}

impl RelationKind {
    /// The word shown to people and machines.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Refines => "refines",
            Self::Upstream => "upstream",
            Self::Downstream => "downstream",
            Self::Sibling => "sibling",
            Self::Unrelated => "unrelated",
            Self::None => "none",
            Self::Unknown => "unknown",
        }
    }
}

/// What a rule is asked about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) human_unclear: bool,
    pub(crate) side: bool,
    pub(crate) path: bool,
    pub(crate) scope_contradicts: bool,
    pub(crate) entry_mode_right: bool,
    pub(crate) relation: RelationKind,
    pub(crate) edges: u8,
    pub(crate) ruled_out: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Paths {
    compatible: Vec<[String; 2]>,
    covered: Vec<[String; 2]>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scopes {
    extent: BTreeMap<String, Vec<String>>,
    contradict: Vec<[String; 2]>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sides {
    compatible: Vec<[String; 2]>,
}

/// The rubric as it is written: rules in order, with what they mean.
#[must_use]
pub fn rubric_text() -> &'static str {
    include_str!("rubric.toml")
}

impl Rubric {
    /// The rubric that ships with the program.
    pub(crate) fn shipped() -> Self {
        toml::from_str(rubric_text()).expect("the tests load the shipped rubric")
    }

    /// The first rule that fits, and its verdict.
    pub(crate) fn decide(&self, facts: &Facts) -> (&Rule, MatchLevel) {
        let rule = self.rule.iter().find(|rule| rule.fits(facts)).expect("the last rule has no condition");
        (rule, MatchLevel::recognise(&rule.level).expect("the tests read every level of the rubric"))
    }

    pub(crate) fn paths_compatible(&self, human: Option<Path>, skill: Option<Path>) -> bool {
        let (Some(human), Some(skill)) = (human, skill) else { return true };
        human == skill || either_way(&self.paths.compatible, human.as_str(), skill.as_str())
    }

    pub(crate) fn path_is_wrong(&self, human: Option<Path>, skill: Option<Path>) -> bool {
        let (Some(human), Some(skill)) = (human, skill) else { return false };
        let pair = [human.as_str(), skill.as_str()];
        human != skill && !self.paths.covered.iter().any(|covered| covered.each_ref().map(String::as_str) == pair)
    }

    pub(crate) fn scope_is_wrong(&self, human: Option<Scope>, skill: Option<Scope>) -> bool {
        matches!((self.extent(human), self.extent(skill)), (Some(a), Some(b)) if a != b)
    }

    pub(crate) fn scopes_contradict(&self, human: Option<Scope>, skill: Option<Scope>) -> bool {
        let (Some(human), Some(skill)) = (self.extent(human), self.extent(skill)) else { return false };
        either_way(&self.scopes.contradict, human, skill)
    }

    pub(crate) fn sides_compatible(&self, human: Option<TikvSide>, skill: Option<TikvSide>) -> bool {
        let (Some(human), Some(skill)) = (human, skill) else { return true };
        let unknown = human == TikvSide::Unknown || skill == TikvSide::Unknown;
        unknown || human == skill || either_way(&self.sides.compatible, human.as_str(), skill.as_str())
    }

    fn extent(&self, scope: Option<Scope>) -> Option<&str> {
        let scope = scope?;
        let mut extents = self.scopes.extent.iter();
        extents.find(|(_, words)| words.iter().any(|word| word == scope.as_str())).map(|(extent, _)| extent.as_str())
    }
}

impl Rule {
    fn fits(&self, facts: &Facts) -> bool {
        let human = self.human.as_ref().is_none_or(|HumanCondition::Unclear| facts.human_unclear);
        let side = self.side.as_ref().is_none_or(|Compatible::Compatible| facts.side);
        let path = self.path.as_ref().is_none_or(|Compatible::Compatible| facts.path);
        let scope = self.scope.as_ref().is_none_or(|scope| match scope {
            ScopeCondition::Contradicts => facts.scope_contradicts,
            ScopeCondition::Agrees => !facts.scope_contradicts,
        });
        let entry_mode = self.entry_mode.as_ref().is_none_or(|Right::Right| facts.entry_mode_right);
        let relation = self.bottleneck.is_empty() || self.bottleneck.contains(&facts.relation);
        let edges = self.max_edges.is_none_or(|most| facts.edges <= most);
        let ruled_out = self.ruled_out.is_none_or(|wanted| facts.ruled_out == wanted);
        human && side && path && scope && entry_mode && relation && edges && ruled_out
    }
}

fn either_way(pairs: &[[String; 2]], a: &str, b: &str) -> bool {
    pairs.iter().any(|[first, second]| first == a && second == b || first == b && second == a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_the_rubric_is_one_of_the_schema() {
        let rubric = Rubric::shipped();
        for rule in &rubric.rule {
            assert!(MatchLevel::recognise(&rule.level).is_some(), "{}", rule.id);
        }
        assert!(rubric.rule.last().is_some_and(|rule| rule.fits(&nothing())), "the last rule fits everything");
        for word in rubric.paths.compatible.iter().chain(&rubric.paths.covered).flatten() {
            assert!(Path::ALL.iter().any(|path| path.as_str() == word), "{word}");
        }
        for word in rubric.scopes.extent.values().flatten() {
            assert!(Scope::ALL.iter().any(|scope| scope.as_str() == word), "{word}");
        }
        for scope in Scope::ALL.iter().filter(|scope| **scope != Scope::Unknown) {
            assert!(rubric.extent(Some(*scope)).is_some(), "{scope} has no extent");
        }
    }

    fn nothing() -> Facts {
        Facts {
            human_unclear: false,
            side: false,
            path: false,
            scope_contradicts: false,
            entry_mode_right: false,
            relation: RelationKind::Unrelated,
            edges: 0,
            ruled_out: false,
        }
    }
}
