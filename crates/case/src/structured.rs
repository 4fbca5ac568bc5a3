//! The one-line grammar of `structured_conclusion`; see `docs/structured-conclusion.md`.
//!
//! ```text
//! line  = part *( "; " part )
//! part  = key "=" value
//! key   = "side" / "scope" / "path" / "bottleneck" / "chain" / "ruled_out" / "certainty"
//! chain = id *( " -> " id )         cause first
//! list  = id *( ", " id )
//! ```

use std::fmt;

use crate::fold::fold_word;
use crate::vocabulary::{Path, Scope, TikvSide, Vocabulary};

/// How sure a statement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// Said with a hedge: "probably", "怀疑".
    Suspected,
    /// Said as a fact.
    #[default]
    Confirmed,
}

impl Certainty {
    /// The word as it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Suspected => "suspected",
            Self::Confirmed => "confirmed",
        }
    }
}

impl fmt::Display for Certainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A conclusion as structured values. Mechanisms are ids of the atlas, or words in hand-written lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StructuredConclusion {
    /// Whether the slowness is on TiKV's side.
    pub side: Option<TikvSide>,
    /// How much of the system is affected.
    pub scope: Option<Scope>,
    /// The path that is slow.
    pub path: Option<Path>,
    /// The bottleneck; empty when none is named.
    pub bottleneck: String,
    /// From cause to consequence.
    pub chain: Vec<String>,
    /// What was excluded.
    pub ruled_out: Vec<String>,
    /// How sure the bottleneck is.
    pub certainty: Option<Certainty>,
}

impl StructuredConclusion {
    /// Parses a line; none when it is prose. Hand-written variants are accepted: `:` for `=`, line breaks for `;`,
    /// Chinese keys, and words where ids belong. A part with an unknown key makes the whole line prose, so that
    /// nothing of it is lost.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut conclusion = Self::default();
        let mut parts = line.split([';', '；', '\n', '|']).map(str::trim).filter(|part| !part.is_empty()).peekable();
        parts.peek()?;
        for part in parts {
            let at = part.find(['=', ':', '：'])?;
            let (key, rest) = part.split_at(at);
            let value = rest.trim_start_matches(['=', ':', '：']).trim();
            conclusion.set(key, value)?;
        }
        Some(conclusion)
    }

    fn set(&mut self, key: &str, value: &str) -> Option<()> {
        match fold_word(key).as_str() {
            "side" | "istikvside" | "tikvside" | "侧" => self.side = Some(word(value)?),
            "scope" | "范围" => self.scope = Some(word(value)?),
            "path" | "路径" => self.path = Some(word(value)?),
            "bottleneck" | "earliestprovenbottleneck" | "rootcause" | "根因" | "瓶颈" => {
                value.clone_into(&mut self.bottleneck);
            }
            "chain" | "链路" => self.chain = items(value, &["->", "→", "=>"]),
            "ruledout" | "excluded" | "排除" => self.ruled_out = items(value, &[",", "、", "，"]),
            "certainty" | "确定性" => {
                self.certainty = Some(match fold_word(value).as_str() {
                    "confirmed" | "firm" | "确认" => Certainty::Confirmed,
                    "suspected" | "怀疑" => Certainty::Suspected,
                    _ => return None,
                });
            }
            _ => return None,
        }
        Some(())
    }
}

fn word<T: Vocabulary>(value: &str) -> Option<T> {
    T::recognise(value)
}

fn items(value: &str, separators: &[&str]) -> Vec<String> {
    let mut unified = value.to_owned();
    for separator in separators {
        unified = unified.replace(separator, "\n");
    }
    unified.lines().map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

impl fmt::Display for StructuredConclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [
            ("side", self.side.map(Vocabulary::as_str).unwrap_or_default().to_owned()),
            ("scope", self.scope.map(Vocabulary::as_str).unwrap_or_default().to_owned()),
            ("path", self.path.map(Vocabulary::as_str).unwrap_or_default().to_owned()),
            ("bottleneck", self.bottleneck.clone()),
            ("chain", self.chain.join(" -> ")),
            ("ruled_out", self.ruled_out.join(", ")),
            ("certainty", self.certainty.map(Certainty::as_str).unwrap_or_default().to_owned()),
        ];
        let parts = words.iter().filter(|(_, value)| !value.is_empty());
        for (index, (key, value)) in parts.enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{key}={value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_parses_back() {
        let line = "side=yes; scope=single_instance; path=write; bottleneck=disk_io_jitter; \
                    chain=disk_io_jitter -> append_log_slow; ruled_out=network_partition, cross_az_latency; certainty=confirmed";
        let parsed = StructuredConclusion::parse(line).expect("the grammar's own example");
        assert_eq!(parsed.to_string(), line);
        assert_eq!(parsed.chain, ["disk_io_jitter", "append_log_slow"]);
    }

    #[test]
    fn hand_written_lines_are_read_and_prose_is_not() {
        let parsed =
            StructuredConclusion::parse("is_tikv_side: Yes\n范围：单实例\n根因: 磁盘 IO 抖动").expect("readable");
        assert_eq!((parsed.side, parsed.scope), (Some(TikvSide::Yes), Some(Scope::SingleInstance)));
        assert_eq!(parsed.bottleneck, "磁盘 IO 抖动");
        assert_eq!(StructuredConclusion::parse("The disk was slow: see the panel."), None);
        assert_eq!(StructuredConclusion::parse(""), None);
    }
}
