//! The pages' words, in English and Chinese. What tickets and skills say is shown as they say it.

use hindcast_case::{Assessment, MatchLevel, MismatchType, Vocabulary};
use hindcast_report::MapWords;
use hindcast_review::Reason;

/// A language of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    Chinese,
}

macro_rules! words {
    ($($name:ident: $english:literal, $chinese:literal;)*) => {
        /// Every word of the pages.
        pub(crate) struct Words {
            $(pub(crate) $name: &'static str,)*
        }

        const ENGLISH: Words = Words { $($name: $english,)* };
        const CHINESE: Words = Words { $($name: $chinese,)* };
    };
}

words! {
    accept: "Accept", "接受";
    accepted: "accepted", "已接受";
    all: "all", "全部";
    all_reasons: "any reason", "任意原因";
    as_seen: "Incident as the skill saw it", "Skill 所见的事件";
    assessment: "Assessment", "评估";
    aside: "sub-agent", "子代理";
    both: "engineers and skill", "工程师与 skill";
    bottleneck: "bottleneck", "瓶颈";
    by_incident: "by incident", "按事件编号";
    by_rule: "by rule", "依据规则";
    by_worth: "where a look is worth most", "按复核价值";
    call: "call", "调用";
    calls: "calls", "次调用";
    changes_nothing: "What a model says changes nothing.", "模型的意见不会改动任何内容。";
    claims: "Claims", "论断";
    clear: "clear", "清除";
    cluster: "cluster", "集群";
    conflict: "This case was changed since you looked at it. Nothing was written. What you entered is kept below: look again, then decide.", "自你打开之后，该案例已被修改，未写入任何内容。你填写的内容保留在下方：请重新查看后再决定。";
    dark: "dark", "深色";
    decide: "Decide", "决定";
    decided: "decided", "已决定";
    decided_all: "Nothing is left to decide here.", "这里没有待决定的案例。";
    description: "description", "描述";
    differs_in: "differs in", "差异";
    engineers: "engineers", "工程师";
    entry_mode: "entry mode", "入口模式";
    excluded: "Not shown to the skill", "未展示给 skill 的内容";
    failed: "failed", "失败";
    failed_replays: "replays failed and have no verdict", "次回放失败，没有结论";
    filter: "Filter", "筛选";
    help: "Keys", "快捷键";
    history: "History", "历史";
    incident: "incident", "事件";
    in_other: "another decision stands in the casebook", "案例库中已有其他决定";
    judges: "Second opinions", "第二意见";
    key_evidence: "Key evidence", "关键证据";
    keys_off: "turn keys off", "关闭快捷键";
    keys_on: "turn keys on", "启用快捷键";
    language: "中文", "English";
    leak: "leak", "泄漏";
    leak_told: "What the skill saw gives the conclusion away, so the case is in no total:", "Skill 看到的内容泄漏了结论，该案例不计入统计：";
    level: "verdict", "结论对比";
    light: "light", "浅色";
    links: "links", "链接";
    missing_evidence: "Missing evidence", "缺失证据";
    mismatch: "In what they differ", "差异类型";
    more: "more", "更多";
    new_note: "Notes, one a line", "备注，每行一条";
    next: "next", "下一个";
    no_such_case: "The run has no verdict on this incident.", "本次运行没有该事件的结论。";
    no_transcript: "No transcript can be shown: the built-in skill writes none, and one above 64 MiB is for hindcast transcript show.", "没有可显示的对话记录：内置 skill 不产生记录；超过 64 MiB 的记录请用 hindcast transcript show 查看。";
    no_windows: "The engineers name no separate windows.", "工程师未区分时间窗口。";
    none: "none", "无";
    none_found: "No case fits.", "没有符合条件的案例。";
    none_named: "none named", "未指明";
    not_decided: "not decided", "未决定";
    not_kept: "This could not be kept; what you entered is below.", "未能保存；你填写的内容保留在下方。";
    notes: "Why", "原因";
    nothing_to_undo: "There is no decision on this incident that can be taken back.", "该事件没有可撤销的决定。";
    of: "of", "/";
    open: "open", "待决定";
    open_browser: "Open the address that hindcast review printed, with everything behind the #.", "请打开 hindcast review 输出的完整地址（包括 # 之后的部分）。";
    order: "order", "排序";
    other: "Override", "改判";
    other_long: "Another verdict", "改判为";
    outdated: "Today's rubric says otherwise:", "当前规则给出的结论不同：";
    overridden: "overridden", "已改判";
    overview: "Overview", "概览";
    outdated_case: "The incident or the engineers' conclusion was changed in the casebook since this run. What stands here is what the run saw; run again to judge what stands there.", "本次运行之后，案例库中的事件或工程师结论已被修改。此处显示的是本次运行所见；要评判现在的内容，请重新运行。";
    path: "path", "路径";
    previous: "previous", "上一个";
    problem: "This can't be done", "无法完成";
    queue: "Queue", "队列";
    reason: "Reason", "理由";
    reason_needed: "Say which verdict is right, and why.", "请选择正确的结论并填写理由。";
    removed: "taken back", "已撤销";
    repeats: "Repeats", "多次回放";
    reset: "whole", "全部";
    reviewer: "reviewer", "复核人";
    run_says: "The run says", "本次运行";
    save: "Save", "保存";
    scope: "scope", "范围";
    search: "Search", "搜索";
    search_hint: "words of ticket, conclusions, notes", "工单、结论、备注中的词";
    shared: "shared", "共同";
    shift_enter: "Ctrl+Enter saves", "Ctrl+Enter 保存";
    side: "side", "归属";
    skill: "skill", "skill";
    skip: "Skip", "跳过";
    skip_to: "Skip to content", "跳到正文";
    state: "state", "状态";
    suggestions: "What to change in the skill", "对 skill 的改进建议";
    symptom: "symptom", "症状";
    time_window: "time window", "时间窗口";
    timeline: "Windows of both sides", "双方的时间窗口";
    timeline_hint: "Drag to zoom, double-click for the whole.", "拖动缩放，双击还原。";
    title: "title", "标题";
    turns: "turns", "轮";
    transcript: "Transcript", "对话记录";
    uncertainty: "Uncertainty", "不确定性";
    undo: "Undo", "撤销";
    votes: "votes", "票";
    wait: "wait for a decision", "待决定";
    whole: "whole text", "全文";
    why: "why look", "复核原因";
    why_changed: "changed since the run before", "与上次运行不同";
    why_judge: "a judge differs", "评审模型有异议";
    why_leak: "leak suspicion", "疑似泄漏";
    why_reviewer: "a reviewer said otherwise", "复核人有异议";
    why_unsure: "the skill is unsure", "skill 不确定";
    zoom_in: "closer", "放大";
    zoom_out: "wider", "缩小";
    key_accept: "accept the verdict", "接受结论";
    key_clear: "leave a field", "离开输入框";
    key_help: "these keys", "显示快捷键";
    key_moves: "next, previous case", "下一个、上一个案例";
    key_other: "override the verdict", "改判";
    key_queue: "back to the queue", "返回队列";
    key_search: "search", "搜索";
    key_skip: "skip: the next open case", "跳过：下一个待决定的案例";
    key_transcript: "open the transcript", "打开对话记录";
    key_unclear: "the human conclusion is unclear", "人工结论不明";
    key_undo: "take the last decision back", "撤销上一个决定";
}

impl Language {
    pub(crate) fn words(self) -> &'static Words {
        match self {
            Self::English => &ENGLISH,
            Self::Chinese => &CHINESE,
        }
    }

    /// Its name in HTML and cookies.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// The language that a browser asks for first, of the two.
    pub(crate) fn accepted(header: &str) -> Self {
        let mut tags = header.split(',').map(|tag| tag.trim().to_lowercase());
        match tags.find(|tag| tag.starts_with("zh") || tag.starts_with("en")) {
            Some(tag) if tag.starts_with("zh") => Self::Chinese,
            _ => Self::English,
        }
    }

    pub(crate) fn level(self, level: MatchLevel) -> &'static str {
        match (self, level) {
            (Self::English, level) => level.as_str(),
            (Self::Chinese, MatchLevel::Matched) => "一致",
            (Self::Chinese, MatchLevel::PartiallyMatched) => "部分一致",
            (Self::Chinese, MatchLevel::Mismatched) => "不一致",
            (Self::Chinese, MatchLevel::HumanConclusionUnclear) => "人工结论不明",
        }
    }

    pub(crate) fn mismatch(self, kind: MismatchType) -> &'static str {
        if self == Self::English {
            return kind.as_str();
        }
        match kind {
            MismatchType::WrongEntryMode => "入口模式错误",
            MismatchType::WrongSide => "归属错误",
            MismatchType::WrongScope => "范围错误",
            MismatchType::WrongPath => "路径错误",
            MismatchType::WrongBottleneck => "瓶颈错误",
            MismatchType::SymptomNamedAsCause => "把症状当作原因",
            MismatchType::CauseBeyondEvidence => "原因超出证据",
            MismatchType::OverstatedCertainty => "确定性过高",
            MismatchType::OverlookedEvidence => "忽略证据",
            MismatchType::ReferenceNotConsulted => "未查阅参考文件",
            MismatchType::SubcapabilityNotActivated => "未激活子能力",
            MismatchType::InsufficientInputs => "输入不足",
        }
    }

    pub(crate) fn assessment(self, assessment: Assessment) -> &'static str {
        match (self, assessment) {
            (Self::English, assessment) => assessment.as_str(),
            (Self::Chinese, Assessment::Agrees) => "一致",
            (Self::Chinese, Assessment::Differs) => "不同",
            (Self::Chinese, Assessment::NotDistinguished) => "未区分",
            (Self::Chinese, Assessment::Missed) => "遗漏",
            (Self::Chinese, Assessment::Extra) => "多出",
            (Self::Chinese, Assessment::Unclear) => "不明",
        }
    }

    pub(crate) fn reason(self, reason: &Reason) -> String {
        if self == Self::English {
            return reason.to_string();
        }
        match reason {
            Reason::Judge { judge, level } => format!("{judge} 认为{}", self.level(*level)),
            Reason::Reviewer(level) => format!("复核人认为{}", self.level(*level)),
            Reason::Leak => "输入可能泄漏结论".to_owned(),
            Reason::Changed(before) => format!("上次运行为{}", self.level(*before)),
            Reason::Flaky => "多次回放结果不一致".to_owned(),
            Reason::NoBottleneck => "skill 未指明瓶颈".to_owned(),
            Reason::Doubts => "skill 有疑虑".to_owned(),
            Reason::Open => CHINESE.not_decided.to_owned(),
            Reason::Decided => CHINESE.decided.to_owned(),
        }
    }

    /// A decision of the log.
    pub(crate) fn decision(self, decision: &str) -> &str {
        let words = self.words();
        match decision {
            "accept" => words.accepted,
            "override" => words.overridden,
            "human_unclear" => self.level(MatchLevel::HumanConclusionUnclear),
            "undo" => words.removed,
            other => other,
        }
    }

    pub(crate) fn map(self) -> MapWords {
        let words = self.words();
        MapWords {
            engineers: words.engineers,
            skill: words.skill,
            both: words.both,
            shared: words.shared,
            nothing: words.none_named,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browsers_first_choice_counts() {
        for (header, language) in [
            ("zh-CN,zh;q=0.9,en;q=0.8", Language::Chinese),
            ("en-GB,zh;q=0.5", Language::English),
            ("fr,zh-TW", Language::Chinese),
            ("", Language::English),
        ] {
            assert_eq!(Language::accepted(header), language, "{header}");
        }
    }

    #[test]
    fn every_word_of_a_verdict_has_its_chinese() {
        let chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        assert!(MatchLevel::ALL.iter().all(|level| chinese(Language::Chinese.level(*level))));
        assert!(MismatchType::ALL.iter().all(|kind| chinese(Language::Chinese.mismatch(*kind))));
        assert!(Assessment::ALL.iter().all(|one| chinese(Language::Chinese.assessment(*one))));
    }
}
