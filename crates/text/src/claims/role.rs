//! Which role each mention plays.

use hindcast_atlas::{Break, Mention, Subject};
use hindcast_case::Certainty;

use super::cue::Cue;
use super::{Claim, ClaimRole, Claims, CueHit, Strength, is_family};
use crate::words::Words;

/// How far a denial or an exclusion reaches ahead, in bytes: about six English words.
const NOT_REACH: usize = 36;

/// How far a circumstance reaches: "during the …".
const CIRCUMSTANCE_REACH: usize = 24;

/// Mentions beyond which a sentence is not read further: the work stays linear in the text.
const MAX_MENTIONS: usize = 64;

/// The longest clause that continues a list: "ruled out the disk, the network, and CPU".
const LIST_ITEM: usize = 28;

/// A list that goes on over several clauses: "ruled out the disk, the network", "possible causes: A, B".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Excluded,
    Guessed,
}

/// What is known of one mention while its role is worked out.
#[derive(Debug, Clone, Copy, Default)]
struct Marks {
    ruled_out: bool,
    hedged: bool,
    initial: bool,
    circumstance: bool,
    skipped: bool,
    causes: bool,
    is_effect: bool,
    confirmed: bool,
    root: bool,
    blamed: bool,
}

/// Assigns a role to every mention that asserts something.
pub(crate) fn assign(words: &Words<'_>, is_trigger: &dyn Fn(Subject) -> bool) -> Claims {
    let mentions = &words.scan.mentions;
    let mut marks = vec![Marks::default(); mentions.len()];
    mark_clauses(words, &mut marks);
    let mut edges = Vec::new();
    let mut start = 0;
    while start < mentions.len() {
        let sentence = words.sentence(mentions[start].clause);
        let end = start + mentions[start..].iter().take_while(|m| words.sentence(m.clause) == sentence).count();
        link_sentence(words, start..end, &mut marks, &mut edges, is_trigger);
        start = end;
    }
    retract(words, &mut marks);
    collect(words, &marks, &edges)
}

/// Everything that a clause alone tells: denial, guess, circumstance, remedy.
fn mark_clauses(words: &Words<'_>, marks: &mut [Marks]) {
    let mut silenced: Option<usize> = None;
    let mut listing: Option<(usize, List)> = None;
    let mut at = 0;
    for (clause, span) in words.scan.clauses.iter().enumerate() {
        if silenced.is_some_and(|sentence| sentence != span.sentence) {
            silenced = None;
        }
        let from = at;
        while at < marks.len() && words.scan.mentions[at].clause == clause {
            at += 1;
        }
        let cues = words.cues_in_clause(clause);
        let is_question = words.text[span.span.end..].trim_start().starts_with(['?', '？']);
        let is_item = span.before == Break::Mark && span.span.end - span.span.start <= LIST_ITEM && cues.is_empty();
        let continues = listing.filter(|(sentence, _)| is_item && *sentence == span.sentence).map(|(_, list)| list);
        for (mention, mark) in words.scan.mentions[from..at].iter().zip(&mut marks[from..at]) {
            mark.ruled_out = continues == Some(List::Excluded) || is_denied(words, cues, mention);
            mark.hedged = is_question
                || continues == Some(List::Guessed)
                || cues.iter().any(|hit| matches!(hit.cue, Cue::Hedge | Cue::Initial));
            mark.initial = cues.iter().any(|hit| hit.cue == Cue::Initial);
            mark.blamed = cues.iter().any(|hit| hit.cue == Cue::Problem && is_next_to(words, hit, mention));
            let remedied = cues.iter().any(|hit| hit.cue == Cue::RemedyBehind && hit.span.start >= mention.span.end);
            let silencer = cues.iter().find(|hit| matches!(hit.cue, Cue::Remedy | Cue::Blind));
            mark.skipped = spans_a_link(words, cues, mention)
                || silenced.is_some()
                || remedied
                || silencer.is_some_and(|hit| hit.span.start < mention.span.end);
        }
        mark_circumstances(words, cues, from..at, marks);
        if cues.iter().any(|hit| matches!(hit.cue, Cue::Remedy | Cue::Blind)) {
            silenced = Some(span.sentence);
        }
        let has = |wanted| cues.iter().any(|hit| hit.cue == wanted);
        let opens = || has(Cue::RuleOut).then_some(List::Excluded).or(has(Cue::Hedge).then_some(List::Guessed));
        listing = continues.or_else(opens).map(|list| (span.sentence, list));
    }
}

/// Whether a word about cause or effect stands between the words of a phrase: then they are two thoughts.
fn spans_a_link(words: &Words<'_>, cues: &[CueHit], mention: &Mention) -> bool {
    let links = |cue: Cue| matches!(cue, Cue::CauseAhead | Cue::EffectAhead | Cue::RootAhead | Cue::RootOf);
    mention.words.len() > 1 && cues.iter().any(|hit| links(hit.cue) && words.is_inside(hit.span, mention))
}

/// Whether a word stands directly beside a mention: "disk problem", "a problem of the disk".
fn is_next_to(words: &Words<'_>, hit: &CueHit, mention: &Mention) -> bool {
    let behind = words.distance_behind(mention, hit.span);
    behind.or_else(|| words.distance_ahead(hit.span, mention)).is_some_and(|gap| gap <= 10)
}

fn is_denied(words: &Words<'_>, cues: &[CueHit], mention: &Mention) -> bool {
    cues.iter().any(|hit| match hit.cue {
        Cue::Not => {
            let near = words.distance_ahead(hit.span, mention).is_some_and(|gap| gap <= NOT_REACH);
            near && !has_between(cues, hit, mention) || words.is_inside(hit.span, mention)
        }
        Cue::RuleOut => words.distance_ahead(hit.span, mention).is_some() && !has_between(cues, hit, mention),
        Cue::NormalBehind => {
            let near = words.distance_behind(mention, hit.span).is_some_and(|gap| gap <= 2 * NOT_REACH);
            let own = cues.iter().any(|other| {
                other.span.start >= mention.span.end
                    && other.span.end <= hit.span.start
                    && matches!(other.cue, Cue::EffectAhead | Cue::CauseAhead)
            });
            near && !own || words.is_inside(hit.span, mention)
        }
        _ => false,
    })
}

/// Whether a word about cause or effect stands between a denial and the mention: what follows it is not denied.
fn has_between(cues: &[CueHit], from: &CueHit, mention: &Mention) -> bool {
    cues.iter().any(|hit| {
        hit.span.start >= from.span.end
            && hit.span.end <= mention.span.start
            && matches!(hit.cue, Cue::EffectAhead | Cue::NormalBehind | Cue::RootAhead)
    })
}

/// "During A, B": only the mention next to the word is a circumstance.
fn mark_circumstances(words: &Words<'_>, cues: &[CueHit], range: std::ops::Range<usize>, marks: &mut [Marks]) {
    let mentions = &words.scan.mentions;
    for hit in cues {
        let near = match hit.cue {
            Cue::CircumstanceAhead => {
                let next = range.clone().find(|at| mentions[*at].span.start >= hit.span.end);
                next.filter(|at| {
                    words.distance_ahead(hit.span, &mentions[*at]).is_some_and(|gap| gap <= CIRCUMSTANCE_REACH)
                })
            }
            Cue::CircumstanceBehind => {
                let last = range.clone().rfind(|at| mentions[*at].span.end <= hit.span.start);
                last.filter(|at| {
                    words.distance_behind(&mentions[*at], hit.span).is_some_and(|gap| gap <= CIRCUMSTANCE_REACH / 2)
                })
            }
            _ => None,
        };
        if let Some(at) = near {
            marks[at].circumstance = true;
        }
    }
}

/// Finds what a sentence says causes what.
fn link_sentence(
    words: &Words<'_>,
    range: std::ops::Range<usize>,
    marks: &mut [Marks],
    edges: &mut Vec<(usize, usize)>,
    is_trigger: &dyn Fn(Subject) -> bool,
) {
    let mentions = &words.scan.mentions;
    let sentence = words.sentence(mentions[range.start].clause);
    let first_clause = words.first_clause(sentence);
    let range = range.start..range.end.min(range.start + MAX_MENTIONS);
    let usable = |marks: &[Marks], at: &usize| !marks[*at].skipped && !marks[*at].ruled_out;
    let cues = words.cues_in_sentence(sentence);
    for pair in
        range.clone().zip(range.clone().skip(1)).filter(|(a, b)| is_verb_of(words, &mentions[*a], &mentions[*b]))
    {
        fill(mentions, marks, edges, &[pair.0], &[pair.1], is_trigger);
    }
    for hit in cues {
        let before: Vec<usize> = range
            .clone()
            .filter(|at| mentions[*at].span.end <= hit.span.start)
            .filter(|at| usable(marks, at))
            .collect();
        let after: Vec<usize> = range
            .clone()
            .filter(|at| mentions[*at].span.start >= hit.span.end)
            .filter(|at| usable(marks, at))
            .collect();
        let near_before = last_clause(mentions, &before);
        let group_after = until_next_link(words, cues, hit, &after);
        match hit.cue {
            Cue::CauseAhead
                if before.is_empty()
                    && hit.clause == first_clause
                    && words.opens_clause(hit.clause, hit.span.start) =>
            {
                // "Because A, B": the cause ends with its clause.
                let (causes, effects): (Vec<usize>, Vec<usize>) =
                    group_after.iter().partition(|at| mentions[**at].clause == hit.clause);
                connect(marks, edges, &causes, &effects);
            }
            Cue::CauseAhead => connect(marks, edges, &same_clause(mentions, &group_after, hit.clause), &near_before),
            Cue::EffectAhead => {
                let opens_sentence = hit.clause == first_clause && words.opens_clause(hit.clause, hit.span.start);
                if !opens_sentence {
                    connect(marks, edges, &near_before, &group_after);
                }
            }
            Cue::RootAhead => {
                let roots = first_clause_of(mentions, &group_after);
                roots.iter().for_each(|at| marks[*at].root = true);
                connect(marks, edges, &roots, &same_clause(mentions, &before, hit.clause));
            }
            Cue::Copula if words.opens_clause(hit.clause, hit.span.start) => {
                for at in group_after.iter().filter(|at| mentions[**at].clause == hit.clause) {
                    marks[*at].root |= !is_family(&mentions[*at]);
                }
            }
            Cue::ConfirmedAhead => {
                first_clause_of(mentions, &group_after).iter().for_each(|at| marks[*at].confirmed = true);
            }
            Cue::RootOf => {
                let in_clause = same_clause(mentions, &after, hit.clause);
                if let Some((effect, causes)) = in_clause.split_first() {
                    causes.iter().for_each(|at| marks[*at].root = true);
                    connect(marks, edges, causes, &[*effect]);
                }
            }
            Cue::RootBehind => same_clause(mentions, &before, hit.clause).iter().for_each(|at| marks[*at].root = true),
            Cue::Agent => {
                let agents = same_clause(mentions, &group_after, hit.clause);
                let acted_on = same_clause(mentions, &before, hit.clause);
                fill(mentions, marks, edges, &agents, &acted_on, is_trigger);
            }
            Cue::Grip => {
                let agents = same_clause(mentions, &before, hit.clause);
                let acted_on = same_clause(mentions, &group_after, hit.clause);
                fill(mentions, marks, edges, &agents, &acted_on, is_trigger);
            }
            _ => {}
        }
    }
}

/// Verbs with which something fills what is named after them.
const FILLING: [&str; 16] = [
    "saturate", "exhaust", "max", "eat", "take", "overload", "fill", "占满", "打满", "吃满", "跑满", "耗尽", "用满",
    "block", "stall", "阻塞",
];

/// Whether `second` starts with a verb whose subject is `first`: "generating snapshots saturates the disk".
fn is_verb_of(words: &Words<'_>, first: &Mention, second: &Mention) -> bool {
    let adjacent =
        first.clause == second.clause && second.span.start.checked_sub(first.span.end).is_some_and(|gap| gap <= 12);
    let verb = words.text.get(second.words[0].start..second.words[0].end).unwrap_or_default().to_lowercase();
    adjacent && second.words.len() > 1 && FILLING.iter().any(|filling| verb.starts_with(filling))
}

/// One thing fills another: "taken by A", "A 把 B 打满", "A saturates B". A load that fills something is its trigger;
/// what is full is the bottleneck.
fn fill(
    mentions: &[Mention],
    marks: &mut [Marks],
    edges: &mut Vec<(usize, usize)>,
    agents: &[usize],
    acted_on: &[usize],
    is_trigger: &dyn Fn(Subject) -> bool,
) {
    if acted_on.is_empty() {
        return;
    }
    // Who acts is more than a circumstance, even where it is said as one: "while generating snapshots it fills the disk".
    let (triggers, causes): (Vec<usize>, Vec<usize>) =
        agents.iter().take(2).partition(|at| is_trigger(mentions[**at].subject));
    triggers.iter().for_each(|at| marks[*at].circumstance = true);
    if !causes.is_empty() {
        causes.iter().for_each(|at| marks[*at].circumstance = false);
        connect(marks, edges, &causes, acted_on);
    }
}

/// Adds edges from each cause to each effect, and marks both ends even where the other end is not in the atlas.
fn connect(marks: &mut [Marks], edges: &mut Vec<(usize, usize)>, causes: &[usize], effects: &[usize]) {
    let solid = |marks: &[Marks], at: &usize| !marks[*at].hedged && !marks[*at].circumstance;
    for cause in causes.iter().filter(|at| !marks[**at].circumstance) {
        let others = effects.iter().filter(|effect| *effect != cause && !marks[**effect].circumstance);
        edges.extend(others.map(|effect| (*cause, *effect)));
    }
    let effects: Vec<usize> = effects.iter().copied().filter(|at| solid(marks, at)).collect();
    causes.iter().for_each(|at| marks[*at].causes = true);
    effects.iter().for_each(|at| marks[*at].is_effect = true);
}

/// The mentions behind a cue up to the next word that links cause and effect.
fn until_next_link(words: &Words<'_>, cues: &[CueHit], from: &CueHit, after: &[usize]) -> Vec<usize> {
    let mentions = &words.scan.mentions;
    let Some(first) = after.first() else { return Vec::new() };
    // "…, which in turn causes …" is one link of several words; a word about the cause begins another thought.
    let opens = |hit: &CueHit| match hit.cue {
        Cue::EffectAhead => hit.span.start >= mentions[*first].span.end,
        Cue::CauseAhead => {
            after.iter().any(|at| mentions[*at].clause == hit.clause && mentions[*at].span.start >= hit.span.end)
        }
        Cue::RootAhead | Cue::RootOf => true,
        _ => false,
    };
    let next = cues.iter().find(|hit| hit.span.start >= from.span.end && opens(hit));
    let end = next.map_or(usize::MAX, |hit| hit.span.start);
    after.iter().copied().filter(|at| mentions[*at].span.start < end).collect()
}

fn same_clause(mentions: &[Mention], group: &[usize], clause: usize) -> Vec<usize> {
    group.iter().copied().filter(|at| mentions[*at].clause == clause).collect()
}

/// The mentions of the last clause that has any. A component counts only where nothing else is named: in "PD evicts
/// leaders, which …" it acts, in "the network, which …" it is blamed.
fn last_clause(mentions: &[Mention], group: &[usize]) -> Vec<usize> {
    let Some(last) = group.last() else { return Vec::new() };
    let mut found = same_clause(mentions, group, mentions[*last].clause);
    if found.iter().any(|at| !is_family(&mentions[*at])) {
        found.retain(|at| !is_family(&mentions[*at]));
    }
    found
}

fn first_clause_of(mentions: &[Mention], group: &[usize]) -> Vec<usize> {
    group.first().map_or_else(Vec::new, |first| same_clause(mentions, group, mentions[*first].clause))
}

/// A guess falls when a firmer statement follows it; an explicit retraction takes back all that came before.
fn retract(words: &Words<'_>, marks: &mut [Marks]) {
    let mentions = &words.scan.mentions;
    if let Some(hit) = words.cues.iter().rfind(|hit| hit.cue == Cue::Retract) {
        for (mention, mark) in mentions.iter().zip(marks.iter_mut()) {
            let earlier =
                mention.clause < hit.clause || mention.clause == hit.clause && mention.span.end <= hit.span.start;
            if earlier && !mark.ruled_out {
                mark.hedged = true;
                mark.initial = true;
            }
        }
    }
}

fn collect(words: &Words<'_>, marks: &[Marks], edges: &[(usize, usize)]) -> Claims {
    let mentions = &words.scan.mentions;
    let no_cause_found = words.cues.iter().any(|hit| hit.cue == Cue::NoCause);
    let mut index = vec![None; mentions.len()];
    let mut claims = Vec::new();
    let is_firm = |mark: &Marks| !mark.hedged && !mark.skipped && !mark.ruled_out;
    let firm: Vec<&Mention> = mentions.iter().zip(marks).filter(|(_, mark)| is_firm(mark)).map(|(m, _)| m).collect();
    // The last few statements tell; looking at all for each guess would be quadratic.
    let firm_after = |at: usize| {
        let mut last = firm.iter().rev().take(8);
        last.any(|other| other.clause > mentions[at].clause && other.subject != mentions[at].subject)
    };
    for (at, (mention, mark)) in mentions.iter().zip(marks).enumerate() {
        let speaks = mark.ruled_out || mark.hedged || mark.causes || mark.root || mark.confirmed || mark.blamed;
        if mark.skipped || is_family(mention) && !speaks {
            continue;
        }
        let strength = match mark {
            Marks { circumstance: true, root: false, .. } => Strength::Circumstance,
            Marks { root: true, is_effect: false, .. } => Strength::Root,
            Marks { is_effect: true, causes: false, .. } => Strength::Effect,
            Marks { confirmed: true, is_effect: false, .. } => Strength::Confirmed,
            Marks { causes: true, .. } => Strength::Cause,
            _ => Strength::Stated,
        };
        let role = match mark {
            Marks { ruled_out: true, .. } => ClaimRole::RuledOut,
            Marks { initial: true, .. } if firm_after(at) => ClaimRole::Retracted,
            Marks { hedged: true, .. } => ClaimRole::Suspected,
            _ => match strength {
                Strength::Circumstance => ClaimRole::Contributing,
                Strength::Effect => ClaimRole::Symptom,
                _ if mark.is_effect => ClaimRole::Symptom,
                _ => ClaimRole::Cause,
            },
        };
        let certainty = if mark.hedged { Certainty::Suspected } else { Certainty::Confirmed };
        index[at] = Some(claims.len());
        claims.push(Claim {
            subject: mention.subject,
            role,
            certainty,
            strength,
            span: mention.span,
            clause: mention.clause,
        });
    }
    let mut kept: Vec<(usize, usize)> = edges.iter().filter_map(|(a, b)| Some((index[*a]?, index[*b]?))).collect();
    kept.retain(|(a, b)| claims[*a].subject != claims[*b].subject);
    kept.sort_unstable();
    kept.dedup();
    Claims { claims, edges: kept, no_cause_found }
}
