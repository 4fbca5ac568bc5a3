//! The words that tell what a sentence says about a mechanism, in English and Chinese.

use std::collections::{BTreeMap, HashMap};

use hindcast_atlas::{Finder, Folded};
use serde::Deserialize;

/// What a word tells about the mechanisms around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Cue {
    /// What follows is a cause of what stands before.
    CauseAhead,
    /// What follows is an effect of what stands before.
    EffectAhead,
    /// What follows is the root cause.
    RootAhead,
    /// What follows in this clause is the conclusion: "it is …", "属于…".
    Copula,
    /// What follows has been confirmed.
    ConfirmedAhead,
    /// What follows is an effect whose root cause comes after it: "the root cause of … is …".
    RootOf,
    /// What stands before is the root cause.
    RootBehind,
    /// What follows does what the verb before says: "taken by …".
    Agent,
    /// What stands before does something to what follows: "把".
    Grip,
    /// What follows is denied.
    Not,
    /// What follows, a whole list of it, is excluded.
    RuleOut,
    /// What stands before is excluded: "is normal", "无关".
    NormalBehind,
    /// The clause is a guess.
    Hedge,
    /// The clause is a first guess.
    Initial,
    /// What was said before is taken back.
    Retract,
    /// What follows is a remedy, not a finding.
    Remedy,
    /// What stands before in its clause made it better: a remedy, too.
    RemedyBehind,
    /// The component next to it is blamed: "磁盘问题".
    Problem,
    /// What follows is about what could be seen, not about what was wrong.
    Blind,
    /// What follows is a circumstance.
    CircumstanceAhead,
    /// What stands before is a circumstance.
    CircumstanceBehind,
    /// No cause was found.
    NoCause,
    /// A longer expression that contains a cue's word and is none.
    Nothing,
}

/// A finder of the cues in `cues.toml`. A word under two cues belongs to the one that `Cue` lists first.
pub(crate) fn finder() -> Finder<Cue> {
    let cues: BTreeMap<Cue, Vec<String>> =
        toml::from_str(include_str!("cues.toml")).expect("the tests load the shipped cues");
    let mut folded: HashMap<String, Cue> = HashMap::new();
    for (cue, words) in cues {
        for word in words {
            folded.entry(Folded::new(&word).as_str().to_owned()).or_insert(cue);
        }
    }
    Finder::new(folded)
}
