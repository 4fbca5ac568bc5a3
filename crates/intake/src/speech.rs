//! What a comment says about the cause.

use hindcast_atlas::{Atlas, Subject};
use hindcast_case::Certainty;
use hindcast_text::{ClaimRole, Move, Strength, TextReader, bottleneck, sentences};

use crate::markup::Document;

/// How much of a comment is read: what is longer is a log.
const MAX_TEXT: usize = 16 * 1024;

/// What a text says about the cause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Speech {
    /// What it concludes with, if the atlas knows it.
    pub(crate) subject: Option<Subject>,
    /// How strongly; at least [`Strength::Cause`] where it calls something the cause.
    pub(crate) strength: Option<Strength>,
    /// Whether it is more than a guess.
    pub(crate) is_firm: bool,
    /// Whether it uses the words of a conclusion.
    pub(crate) concludes: bool,
    /// What it excludes or takes back.
    pub(crate) denied: Vec<Subject>,
    /// Whether it takes back something said before.
    pub(crate) retracts: bool,
}

impl Speech {
    /// Reads a comment or description.
    pub(crate) fn read(atlas: &Atlas, texts: &TextReader, document: &Document) -> Self {
        let prose = document.prose();
        let prose = &prose[..prose.floor_char_boundary(MAX_TEXT)];
        if prose.trim().is_empty() {
            return Self::default();
        }
        let claims = texts.claims(atlas, prose);
        let chosen = bottleneck(atlas, &claims, None);
        let denies = |role| matches!(role, ClaimRole::RuledOut | ClaimRole::Retracted);
        let denied = claims.claims.iter().filter(|claim| denies(claim.role)).map(|claim| claim.subject).collect();
        let moves: Vec<Move> = sentences(prose).map(|span| Move::of(&prose[span.start..span.end])).collect();
        let concludes = moves.iter().any(|sentence| sentence.concludes());
        Self {
            subject: chosen.map(|claim| claim.subject),
            strength: chosen.map(|claim| claim.strength),
            is_firm: chosen.map_or(concludes, |claim| claim.certainty == Certainty::Confirmed),
            concludes,
            denied,
            retracts: moves.iter().any(|sentence| sentence.retracts),
        }
    }

    /// Whether it says anything about causes: a conclusion, a guess, an exclusion.
    pub(crate) fn diagnoses(&self) -> bool {
        let names = self.strength.is_some_and(|strength| strength >= Strength::Cause || !self.is_firm);
        self.concludes || names || !self.denied.is_empty()
    }

    /// Whether it names the cause, and not as a guess.
    pub(crate) fn is_conclusion(&self) -> bool {
        self.is_firm && (self.concludes || self.strength.is_some_and(|strength| strength >= Strength::Cause))
    }

    /// Whether it states a mechanism, without calling it the cause.
    pub(crate) fn is_finding(&self) -> bool {
        self.is_firm && self.subject.is_some()
    }
}

/// Whether two subjects are one story: the same, of one component, or near on the way from cause to effect.
pub(crate) fn is_same_story(atlas: &Atlas, one: Subject, other: Subject) -> bool {
    let members = |subject| match subject {
        Subject::Mechanism(ix) => vec![ix],
        Subject::Family(family) => atlas.family_members(family).to_vec(),
    };
    let (ones, others) = (members(one), members(other));
    ones.iter()
        .any(|a| others.iter().any(|b| a == b || atlas.distance(*a, *b).is_some() || atlas.distance(*b, *a).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conclusions_differ_from_questions_and_thanks() {
        let atlas = Atlas::embedded();
        let texts = TextReader::new(&atlas);
        let read = |text: &str| Speech::read(&atlas, &texts, &Document::plain(text));
        for text in [
            "Root cause: EBS jitter on that node.",
            "根因是云盘抖动，写入变慢。",
            "It turned out that their own proxy dropped connections.",
            "最终确认是业务侧的定时任务。",
        ] {
            assert!(read(text).is_conclusion(), "{text}: {:?}", read(text));
        }
        for text in [
            "Thanks, closing.",
            "What is the root cause?",
            "请帮忙排查一下根因",
            "根因还不清楚",
            "Could you confirm the root cause please",
            "I suspect the disk, will check tomorrow",
            "",
        ] {
            assert!(!read(text).is_conclusion(), "{text}: {:?}", read(text));
        }
        assert!(read("I suspect EBS jitter").diagnoses() && read("排除了网络").diagnoses());
        assert!(!read("Could you send the logs of that node?").diagnoses());
        for text in ["I was wrong about the disk", "之前的判断不对", "My earlier conclusion was wrong"] {
            assert!(read(text).retracts, "{text}");
        }
    }
}
