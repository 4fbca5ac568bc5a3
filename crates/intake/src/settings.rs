//! What a team tells the intake: `[intake]` of `hindcast.toml`.

use std::collections::BTreeMap;

use jiff::tz::Offset;
use serde::Deserialize;
use serde_json::Value;

use crate::ticket::Person;

/// The settings of an import.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The zone of times that say none, where the ticket itself gives none either.
    pub zone: Option<Offset>,
    /// Which fields of a ticket hold what.
    pub fields: FieldMap,
    /// Who is what.
    pub people: People,
    /// Names that become placeholders, as those of customers.
    pub names: Vec<String>,
    /// Where the parts of a PingKai ticket stand.
    pub pingkai: PingkaiMap,
}

/// People by role, each by name or account.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct People {
    /// Programs that write comments.
    pub bots: Vec<String>,
    /// The customer's people.
    pub customers: Vec<String>,
    /// Level 1.
    pub l1: Vec<String>,
    /// Level 2.
    pub l2: Vec<String>,
    /// Level 3 and owners: their conclusion counts.
    pub owners: Vec<String>,
}

/// A field that sites name and number as they like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// Who handled it at level 2.
    L2Assignee,
    /// Who handled it at level 3.
    L3Assignee,
    /// The cluster.
    ClusterId,
    /// The time of the incident.
    TimeWindow,
    /// The conclusion.
    Conclusion,
}

/// Which custom field of a site holds what.
#[derive(Debug, Clone, Default)]
pub struct FieldMap {
    configured: BTreeMap<Field, Vec<String>>,
}

/// Names that sites use, without case, spaces and punctuation.
const GUESSES: [(Field, &[&str]); 5] = [
    (Field::L2Assignee, &["l2", "l2assignee", "l2owner", "l2engineer", "二线", "二线处理人", "二线工程师"]),
    (Field::L3Assignee, &["l3", "l3assignee", "l3owner", "l3engineer", "三线", "三线处理人", "三线工程师"]),
    (Field::ClusterId, &["clusterid", "tidbclusterid", "集群id", "集群编号"]),
    (
        Field::TimeWindow,
        &["timewindow", "incidenttime", "incidentwindow", "故障时间", "问题时间", "时间窗口", "发生时间"],
    ),
    (Field::Conclusion, &["rootcause", "conclusion", "finalconclusion", "结论", "根因", "根本原因", "最终结论"]),
];

impl FieldMap {
    /// What a field holds, by its id and its name: as configured, else as its name suggests.
    #[must_use]
    pub fn holds(&self, id: &str, name: &str) -> Option<Field> {
        let wanted = |words: &[String]| words.iter().any(|word| word == id || fold(word) == fold(name));
        let configured = self.configured.iter().find(|(_, words)| wanted(words)).map(|(field, _)| *field);
        configured.or_else(|| {
            let folded = fold(name);
            let guess = GUESSES.iter().find(|(_, names)| names.contains(&folded.as_str()))?;
            // A configured field is not guessed as well.
            (!self.configured.contains_key(&guess.0)).then_some(guess.0)
        })
    }
}

/// A field's name without case, spaces and punctuation.
pub(crate) fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

impl People {
    /// Whether a list names a person.
    #[must_use]
    pub fn lists(list: &[String], person: &Person) -> bool {
        list.iter().any(|name| person.is(&Person::named(name)))
    }
}

/// Where the parts of a PingKai ticket stand: JSON Pointers, or names of columns. Each may have several, the first that
/// is there counts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PingkaiMap {
    /// The key.
    pub key: Places,
    /// The title.
    pub title: Places,
    /// The description.
    pub description: Places,
    /// When it was opened.
    pub created: Places,
    /// When it was last changed.
    pub updated: Places,
    /// When it was closed.
    pub resolved: Places,
    /// The status.
    pub status: Places,
    /// Who opened it.
    pub reporter: Places,
    /// Who has it.
    pub assignee: Places,
    /// Level 2.
    pub l2: Places,
    /// Level 3.
    pub l3: Places,
    /// The cluster.
    pub cluster_id: Places,
    /// The time of the incident.
    pub time_window: Places,
    /// The conclusion.
    pub conclusion: Places,
    /// Labels.
    pub labels: Places,
    /// The list of comments.
    pub comments: Places,
    /// In a comment: who wrote it.
    pub comment_author: Places,
    /// In a comment: when.
    pub comment_created: Places,
    /// In a comment: what it says.
    pub comment_body: Places,
}

/// Where a value may stand.
#[derive(Debug, Clone, Default)]
pub struct Places(Vec<String>);

impl<'de> Deserialize<'de> for Places {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let places = match toml::Value::deserialize(deserializer)? {
            toml::Value::String(one) => vec![one],
            toml::Value::Array(several) => {
                several.into_iter().map(|place| place.as_str().map(str::to_owned)).collect::<Option<_>>().ok_or_else(
                    || serde::de::Error::custom("expected JSON Pointers as texts, like \"/ticket/title\""),
                )?
            }
            _ => {
                return Err(serde::de::Error::custom(
                    "expected a JSON Pointer like \"/ticket/title\", or a list of them",
                ));
            }
        };
        Ok(Self(places))
    }
}

impl Places {
    fn of(names: &[&str]) -> Self {
        Self(names.iter().map(|name| (*name).to_owned()).collect())
    }

    /// The first of the places where something stands.
    #[must_use]
    pub fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        let at = |place: &String| match place.strip_prefix('/') {
            Some(_) => value.pointer(place),
            None => value.as_object()?.iter().find(|(key, _)| fold(key) == fold(place)).map(|(_, value)| value),
        };
        self.0.iter().filter_map(at).find(|found| !found.is_null())
    }

    /// Whether a column of this name is meant.
    #[must_use]
    pub fn name(&self, column: &str) -> bool {
        self.0.iter().any(|place| fold(place) == fold(column))
    }
}

impl Default for PingkaiMap {
    fn default() -> Self {
        Self {
            key: Places::of(&["key", "ticket_id", "ticketId", "ticket_no", "id", "工单号", "工单编号", "编号"]),
            title: Places::of(&["title", "summary", "subject", "标题", "主题"]),
            description: Places::of(&["description", "content", "描述", "问题描述", "内容"]),
            created: Places::of(&["created", "created_at", "createdAt", "create_time", "创建时间", "提交时间"]),
            updated: Places::of(&["updated", "updated_at", "updatedAt", "update_time", "更新时间"]),
            resolved: Places::of(&["resolved", "closed_at", "closedAt", "resolved_at", "关闭时间", "解决时间"]),
            status: Places::of(&["status", "state", "状态"]),
            reporter: Places::of(&["reporter", "creator", "提交人", "创建人", "报告人"]),
            assignee: Places::of(&["assignee", "owner", "处理人", "负责人"]),
            l2: Places::of(&["l2", "l2_assignee", "二线", "二线处理人"]),
            l3: Places::of(&["l3", "l3_assignee", "三线", "三线处理人"]),
            cluster_id: Places::of(&["cluster_id", "clusterId", "集群ID", "集群"]),
            time_window: Places::of(&["time_window", "incident_time", "故障时间", "问题时间", "发生时间"]),
            conclusion: Places::of(&["conclusion", "root_cause", "rootCause", "结论", "根因", "最终结论"]),
            labels: Places::of(&["labels", "tags", "标签"]),
            comments: Places::of(&["comments", "replies", "评论", "回复", "沟通记录"]),
            comment_author: Places::of(&["author", "user", "creator", "作者", "评论人", "回复人"]),
            comment_created: Places::of(&["created", "created_at", "createdAt", "time", "date", "时间", "创建时间"]),
            comment_body: Places::of(&["body", "content", "text", "comment", "内容", "评论"]),
        }
    }
}

/// Why settings can't be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The text is no TOML, or holds what is not expected; the message names line and column.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// `zone` is no offset.
    #[error("intake.zone = {0:?} is no offset from UTC; expected one like \"+08:00\"")]
    Zone(String),
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    intake: Section,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Section {
    zone: Option<String>,
    fields: BTreeMap<Field, Vec<String>>,
    people: People,
    redact: Redact,
    pingkai: PingkaiMap,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Redact {
    names: Vec<String>,
}

impl Settings {
    /// Reads `hindcast.toml`; what does not belong to the intake is left alone.
    ///
    /// # Errors
    /// When the text can't be read or holds a setting that is not known.
    pub fn read(text: &str) -> Result<Self, SettingsError> {
        let Section { zone, fields, people, redact, pingkai } = toml::from_str::<File>(text)?.intake;
        let zone = match zone {
            Some(text) => Some(read_zone(&text).ok_or(SettingsError::Zone(text))?),
            None => None,
        };
        Ok(Self { zone, fields: FieldMap { configured: fields }, people, names: redact.names, pingkai })
    }
}

/// Reads an offset from UTC: `+08:00`, `+8`, `UTC+8`, `Z`.
#[must_use]
pub(crate) fn read_zone(text: &str) -> Option<Offset> {
    let probe = hindcast_case::Moment::parse(&format!("2024-01-01 00:00:00 {}", text.trim()));
    match probe {
        hindcast_case::Moment::Zoned(_, offset) => Some(offset),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_as_configured_or_by_name() {
        let text = "[intake]\nzone = \"+08:00\"\n[intake.fields]\nl2_assignee = [\"customfield_1\", \"Second Line\"]\n";
        let settings = Settings::read(text).expect("readable");
        let fields = &settings.fields;
        assert_eq!(fields.holds("customfield_1", ""), Some(Field::L2Assignee));
        assert_eq!(fields.holds("customfield_9", "second line"), Some(Field::L2Assignee));
        assert_eq!(fields.holds("customfield_9", "L2 Assignee"), None, "configured, so not guessed");
        assert_eq!(fields.holds("customfield_9", "Cluster ID"), Some(Field::ClusterId));
        assert_eq!(fields.holds("customfield_9", "三线"), Some(Field::L3Assignee));
        assert_eq!(fields.holds("customfield_9", "Sprint"), None);
        assert_eq!(settings.zone, Some(jiff::tz::offset(8)));
    }

    #[test]
    fn the_documented_settings_are_read() {
        let docs = include_str!("../../../docs/intake.md");
        let example = docs.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
        let settings = Settings::read(example).expect("what the documentation shows works");
        assert_eq!(settings.people.owners, ["Zhao Owner"]);
        assert_eq!(settings.fields.holds("customfield_10101", ""), Some(Field::L2Assignee));
    }

    #[test]
    fn wrong_settings_say_where() {
        let unknown = Settings::read("[intake]\nzoen = \"+08:00\"\n").expect_err("unknown").to_string();
        assert!(unknown.contains("zoen") && unknown.contains("line 2"), "{unknown}");
        let zone = Settings::read("[intake]\nzone = \"CST\"\n").expect_err("no offset").to_string();
        assert!(zone.contains("+08:00"), "{zone}");
        let places = Settings::read("[intake.pingkai]\nkey = 5\n").expect_err("no pointer").to_string();
        assert!(places.contains("JSON Pointer"), "{places}");
    }
}
