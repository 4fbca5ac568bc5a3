//! One side's conclusion, read: side, scope, path and bottleneck, each with where it comes from.

use std::cell::OnceCell;

use hindcast_atlas::{Atlas, MechanismIx, Scan, Subject};
use hindcast_case::{Case, Certainty, Path, Scope, SkillConclusion, Span, StructuredConclusion, TikvSide, Vocabulary};

use hindcast_text::{Claim, ClaimRole, Claims, Places, Reading, Strength, TextReader, is_log_line};

/// Reads conclusions; built once from an atlas.
#[derive(Debug)]
pub struct Reader {
    /// The mechanisms.
    pub atlas: Atlas,
    /// Their words.
    pub texts: TextReader,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// A structured field.
    Field(&'static str),
    /// These words of the text.
    Words(Span),
    /// The mechanism's usual value, as the atlas has it.
    Atlas,
    /// The description of the incident.
    Incident,
}

/// A value with where it comes from and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stated<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub basis: Basis,
    /// How sure it is.
    pub certainty: Certainty,
}

/// One side's conclusion.
#[derive(Debug, Clone)]
pub struct Conclusion {
    /// Whether the slowness is on TiKV's side.
    pub side: Option<Stated<TikvSide>>,
    /// How much of the system is affected.
    pub scope: Option<Stated<Scope>>,
    /// The path that is slow.
    pub path: Option<Stated<Path>>,
    /// The bottleneck: a mechanism, or only a component.
    pub bottleneck: Option<Stated<Subject>>,
    /// A bottleneck that was named in words the atlas doesn't know.
    pub unknown_bottleneck: Option<String>,
    /// The name in the conclusion was of a finer mechanism than the atlas has.
    pub is_finer: bool,
    /// What the text asserts.
    pub claims: Claims,
    /// The text that the spans point into.
    pub text: String,
}

/// The incident's own words, read only where a conclusion leaves something open.
pub(crate) struct Incident<'a> {
    case: &'a Case,
    texts: &'a TextReader,
    reading: OnceCell<Reading>,
}

impl Incident<'_> {
    fn reading(&self) -> &Reading {
        self.reading.get_or_init(|| self.texts.glance(&incident_text(self.case)))
    }
}

impl Reader {
    /// A reader for this atlas.
    #[must_use]
    pub fn new(atlas: Atlas) -> Self {
        let texts = TextReader::new(&atlas);
        Self { atlas, texts }
    }

    /// The claims of any text.
    #[must_use]
    pub fn claims(&self, text: &str) -> Claims {
        self.texts.read(&self.atlas, text).claims
    }

    /// The engineers' conclusion. The windows of a case take no part in it.
    #[must_use]
    pub fn human(&self, case: &Case) -> Conclusion {
        self.human_of(case, &self.incident(case))
    }

    /// The incident's own words, which say what the conclusions leave open.
    pub(crate) fn incident<'a>(&'a self, case: &'a Case) -> Incident<'a> {
        Incident { case, texts: &self.texts, reading: OnceCell::new() }
    }

    pub(crate) fn human_of(&self, case: &Case, incident: &Incident<'_>) -> Conclusion {
        let human = &case.final_human_conclusion;
        match StructuredConclusion::parse(&human.structured_conclusion) {
            Some(fields) => {
                let mut conclusion = self.read(&human.owner_final_comment, incident, None);
                self.overlay(&mut conclusion, &fields);
                conclusion
            }
            None => {
                let texts = [human.owner_final_comment.as_str(), human.structured_conclusion.as_str()];
                self.read(&joined(&texts), incident, None)
            }
        }
    }

    /// A skill's conclusion: its structured fields first, then its prose.
    pub(crate) fn skill_of(&self, skill: &SkillConclusion, incident: &Incident<'_>) -> Conclusion {
        let named = skill.earliest_proven_bottleneck.trim();
        let mut conclusion = self.read(&skill.provisional_conclusion, incident, (!named.is_empty()).then_some(named));
        // Beside structured fields, prose names a bottleneck only where it calls it the cause.
        let structured =
            skill.entry_mode.is_some() || skill.path.known().is_some() || skill.is_tikv_side.known().is_some();
        if structured && let Some(Stated { basis: Basis::Words(span), .. }) = conclusion.bottleneck {
            let claims = &conclusion.claims.claims;
            let is_cause = claims.iter().any(|claim| claim.span == span && claim.strength >= Strength::Cause);
            conclusion.bottleneck = conclusion.bottleneck.filter(|_| is_cause);
        }
        // A skill that weighs possibilities in prose has not named a bottleneck.
        let guessed = |b: &Stated<Subject>| matches!(b.basis, Basis::Words(_)) && b.certainty == Certainty::Suspected;
        conclusion.bottleneck = conclusion.bottleneck.filter(|b| !guessed(b));
        let side = skill.is_tikv_side.known().map(|side| stated(side, Basis::Field("is_tikv_side")));
        let scope = skill.scope.known().map(|scope| stated(scope, Basis::Field("scope")));
        let path = skill.path.known().map(|path| stated(path, Basis::Field("path")));
        conclusion.side = side.or(conclusion.side);
        conclusion.scope = scope.or(conclusion.scope);
        conclusion.path = path.or(conclusion.path);
        conclusion
    }

    /// Reads a text; `named` is a bottleneck that a structured field gives.
    fn read(&self, text: &str, incident: &Incident<'_>, named: Option<&str>) -> Conclusion {
        let Reading { claims, places, scan } = self.texts.read(&self.atlas, text);
        let mut conclusion = Conclusion {
            side: places.side.map(|(value, span)| stated(value, Basis::Words(span))),
            scope: None,
            path: None,
            bottleneck: None,
            unknown_bottleneck: None,
            is_finer: false,
            claims,
            text: text.to_owned(),
        };
        match named {
            Some(named) => self.name(&mut conclusion, named, "earliest_proven_bottleneck"),
            None => self.select(&mut conclusion),
        }
        if conclusion.unknown_bottleneck.is_some() {
            self.select(&mut conclusion);
        }
        self.complete(&mut conclusion, &scan, &places, incident);
        conclusion
    }

    /// Sets the bottleneck from what the text asserts.
    fn select(&self, conclusion: &mut Conclusion) {
        let side = conclusion.side.map(|side| side.value);
        conclusion.bottleneck = hindcast_text::bottleneck(&self.atlas, &conclusion.claims, side).map(|claim| Stated {
            value: claim.subject,
            basis: Basis::Words(claim.span),
            certainty: claim.certainty,
        });
    }

    /// Sets the bottleneck from a field that names it by id or in words.
    fn name(&self, conclusion: &mut Conclusion, named: &str, field: &'static str) {
        let resolved = self.atlas.resolve(named);
        conclusion.is_finer = matches!(resolved, Some(hindcast_atlas::Resolved::Covered(_)));
        let subject = match resolved {
            Some(resolved) => Some(Subject::Mechanism(resolved.mechanism())),
            None => {
                let Reading { claims, scan, .. } = self.texts.read(&self.atlas, named);
                let chosen = hindcast_text::bottleneck(&self.atlas, &claims, None).map(|claim| claim.subject);
                chosen.or_else(|| scan.mentions.first().map(|mention| mention.subject))
            }
        };
        match subject {
            Some(value) => conclusion.bottleneck = Some(stated(value, Basis::Field(field))),
            None => conclusion.unknown_bottleneck = Some(named.to_owned()),
        }
    }

    fn overlay(&self, conclusion: &mut Conclusion, fields: &StructuredConclusion) {
        let basis = Basis::Field("structured_conclusion");
        if !fields.bottleneck.is_empty() {
            conclusion.bottleneck = None;
            self.name(conclusion, &fields.bottleneck, "structured_conclusion");
            if let (Some(bottleneck), Some(certainty)) = (&mut conclusion.bottleneck, fields.certainty) {
                bottleneck.certainty = certainty;
            }
        }
        if let Some(side) = fields.side {
            conclusion.side = Some(stated(side, basis));
        }
        if let Some(scope) = fields.scope {
            conclusion.scope = Some(stated(scope, basis));
        }
        if let Some(path) = fields.path {
            conclusion.path = Some(stated(path, basis));
        }
        for id in &fields.ruled_out {
            if let Some(resolved) = self.atlas.resolve(id) {
                let subject = Subject::Mechanism(resolved.mechanism());
                let span = Span::default();
                let claim = Claim {
                    subject,
                    role: ClaimRole::RuledOut,
                    certainty: Certainty::Confirmed,
                    strength: Strength::Stated,
                    span,
                    clause: 0,
                };
                conclusion.claims.claims.push(claim);
            }
        }
    }

    /// Fills side, scope and path from the text, then from the incident, then from the atlas.
    fn complete(&self, conclusion: &mut Conclusion, scan: &Scan, places: &Places, incident: &Incident<'_>) {
        let mechanism = conclusion.bottleneck.map(|bottleneck| self.representative(bottleneck.value));
        let clause = match conclusion.bottleneck.map(|b| b.basis) {
            Some(Basis::Words(span)) => scan.clauses.iter().position(|clause| clause.span.overlaps(span)),
            _ => None,
        };
        let words = |found: Option<(Scope, Span)>| found.map(|(scope, span)| stated(scope, Basis::Words(span)));
        let with_bottleneck = words(clause.and_then(|at| places.scope_in(scan.clauses[at].span)));
        let said = || words(places.first_scope());
        let usual =
            || mechanism.and_then(|ix| self.atlas[ix].scope.first().copied()).map(|scope| stated(scope, Basis::Atlas));
        let of_incident = || incident.reading().places.first_scope().map(|(scope, _)| stated(scope, Basis::Incident));
        // What happens outside TiKV has its own scope, whatever the incident says of TiKV's.
        let outside = mechanism.is_some_and(|ix| self.atlas[ix].path == Path::Upstream);
        let of_incident = || of_incident().filter(|_| !outside);
        conclusion.scope = with_bottleneck.or_else(of_incident).or_else(said).or_else(usual);
        conclusion.path = self.path(conclusion, mechanism, places, incident);
        if conclusion.side.is_none() {
            conclusion.side = mechanism.map(|ix| stated(self.atlas[ix].is_tikv_side, Basis::Atlas));
        }
    }

    /// The path: what the mechanism slows; where that is open, what the conclusion's consequences and words say, then
    /// what the incident says.
    fn path(
        &self,
        conclusion: &Conclusion,
        mechanism: Option<MechanismIx>,
        places: &Places,
        incident: &Incident<'_>,
    ) -> Option<Stated<Path>> {
        let own = mechanism.map(|ix| self.atlas[ix].path);
        let is_open = own.is_none_or(|path| matches!(path, Path::ReadWrite | Path::Background | Path::Raft));
        if !is_open {
            return own.map(|path| stated(path, Basis::Atlas));
        }
        let fits = |path: Path| match own {
            Some(Path::ReadWrite) => matches!(path, Path::Read | Path::Write),
            Some(Path::Background) => !matches!(path, Path::Background | Path::Upstream | Path::Scheduling),
            Some(Path::Raft) => path == Path::ReadWrite,
            _ => path != Path::Upstream,
        };
        let said = places.path.filter(|(path, _)| fits(*path)).map(|(path, span)| stated(path, Basis::Words(span)));
        let by_effects = self.path_of_effects(conclusion, mechanism).filter(|path| fits(path.value));
        let by_symptom = || {
            let mechanisms = incident.reading().scan.mentions.iter().filter_map(|mention| match mention.subject {
                Subject::Mechanism(ix) => Some(self.atlas[ix].path),
                Subject::Family(_) => None,
            });
            let named = incident.reading().places.path.map(|(path, _)| path);
            named.into_iter().chain(mechanisms).find(|path| fits(*path)).map(|path| stated(path, Basis::Incident))
        };
        let first =
            if own == Some(Path::ReadWrite) || own.is_none() { said.or(by_effects) } else { by_effects.or(said) };
        // Raft work is its own path unless the conclusion itself says what it slows.
        let first = if own == Some(Path::Raft) { first } else { first.or_else(by_symptom) };
        first.or(own.map(|path| stated(path, Basis::Atlas)))
    }

    fn path_of_effects(&self, conclusion: &Conclusion, mechanism: Option<MechanismIx>) -> Option<Stated<Path>> {
        let effects = conclusion.claims.claims.iter().filter_map(|claim| match (claim.role, claim.subject) {
            (ClaimRole::Cause | ClaimRole::Symptom, Subject::Mechanism(ix)) => Some((ix, claim.span)),
            _ => None,
        });
        let consequences = effects.filter(|(ix, _)| match mechanism {
            Some(bottleneck) => *ix != bottleneck && self.atlas.distance(bottleneck, *ix).is_some(),
            None => true,
        });
        let own = mechanism.map(|ix| self.atlas[ix].path);
        let mut paths =
            consequences.map(|(ix, span)| (self.atlas[ix].path, span)).filter(|(path, _)| Some(*path) != own);
        paths.find(|(path, _)| !matches!(path, Path::Background)).map(|(path, span)| stated(path, Basis::Words(span)))
    }

    /// The mechanism that stands for a subject: itself, or the most usual one of a component.
    #[must_use]
    pub fn representative(&self, subject: Subject) -> MechanismIx {
        match subject {
            Subject::Mechanism(ix) => ix,
            Subject::Family(family) => self.atlas.family_members(family)[0],
        }
    }

    /// A subject as a person reads it: an id, or "disk (which fault is not said)".
    #[must_use]
    pub fn subject_name(&self, subject: Subject) -> String {
        match subject {
            Subject::Mechanism(ix) => self.atlas[ix].id.clone(),
            Subject::Family(family) => format!("{} (which fault is not said)", self.atlas.family_name(family)),
        }
    }

    /// The engineers' conclusion as structured values.
    #[must_use]
    pub fn structured(&self, conclusion: &Conclusion) -> StructuredConclusion {
        let ids = |subject: Subject| self.atlas[self.representative(subject)].id.clone();
        let mut ruled_out: Vec<String> = Vec::new();
        for claim in conclusion.claims.claims.iter().filter(|claim| claim.role == ClaimRole::RuledOut) {
            let members = match claim.subject {
                Subject::Mechanism(ix) => vec![ix],
                Subject::Family(family) => self.atlas.family_members(family).to_vec(),
            };
            ruled_out.extend(members.into_iter().map(|ix| self.atlas[ix].id.clone()));
        }
        ruled_out.sort();
        ruled_out.dedup();
        let chain = self.chain(conclusion);
        StructuredConclusion {
            side: conclusion.side.map(|s| s.value),
            scope: conclusion.scope.map(|s| s.value),
            path: conclusion.path.map(|s| s.value),
            bottleneck: conclusion.bottleneck.map(|b| ids(b.value)).unwrap_or_default(),
            chain: if chain.len() > 1 { chain.into_iter().map(ids).collect() } else { Vec::new() },
            ruled_out,
            certainty: conclusion.bottleneck.map(|b| b.certainty),
        }
    }

    /// From the bottleneck along what the text says that it causes.
    #[must_use]
    pub fn chain(&self, conclusion: &Conclusion) -> Vec<Subject> {
        let Some(start) = conclusion.bottleneck else { return Vec::new() };
        let consequences = conclusion.claims.consequences(start.value).into_iter();
        let named = consequences.filter(|subject| matches!(subject, Subject::Mechanism(_)));
        std::iter::once(start.value).chain(named).collect()
    }
}

fn stated<T>(value: T, basis: Basis) -> Stated<T> {
    Stated { value, basis, certainty: Certainty::Confirmed }
}

/// Title and symptom of the incident.
pub(crate) fn incident_text(case: &Case) -> String {
    let (title, symptom) = (&case.canonical_incident.title, &case.initial_symptom);
    // A symptom that an import wrote begins with the title.
    let text = if symptom.starts_with(title) { symptom.clone() } else { joined(&[title, symptom]) };
    // What programs wrote is evidence, not a statement of where it is slow.
    if text.lines().any(is_log_line) {
        text.lines().filter(|line| !is_log_line(line)).collect::<Vec<_>>().join("\n")
    } else {
        text
    }
}

fn joined(texts: &[&str]) -> String {
    texts.iter().copied().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The word of an optional value, for tables.
#[must_use]
pub fn word<T: Vocabulary>(stated: Option<Stated<T>>) -> &'static str {
    stated.map_or("", |stated| stated.value.as_str())
}
