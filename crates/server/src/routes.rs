//! Which request gets which page.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use hindcast_case::{Assessment, IncidentId, MatchLevel, MismatchType, Vocabulary};
use hindcast_review::{Decision, Review, ReviewError, WindowEdit};
use hindcast_transcript::Transcript;
use maud::Markup;

use crate::access::{Keys, cookie, is_local, is_same_origin};
use crate::desk::Desk;
use crate::filter::Filter;
use crate::pages::{
    Around, Draft, Notice, SheetPage, View, door, problem_page, queue_page, step_text, transcript_page, transcript_part,
};
use crate::words::Language;

/// The largest form: reasons and notes that people type.
const MAX_FORM: usize = 1024 * 1024;

/// What a page may load and do; scripts and styles are files of this program alone.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// A page, a redirect, a file.
type Answer = Response<Body>;

#[derive(Clone)]
struct Site {
    desk: Arc<Desk>,
    keys: Arc<Keys>,
}

pub(crate) fn app(desk: Arc<Desk>, keys: Arc<Keys>) -> Router {
    let site = Site { desk, keys };
    let inside = Router::new()
        .route("/queue", get(queue))
        .route("/case/{id}", get(case))
        .route("/case/{id}/decide", post(decide))
        .route("/case/{id}/undo", post(undo))
        .route("/case/{id}/transcript", get(transcript))
        .route("/case/{id}/transcript/part", get(part))
        .route("/case/{id}/transcript/{step}", get(step))
        .route("/preferences", post(preferences))
        .layer(from_fn_with_state(site.clone(), with_session));
    Router::new()
        .route("/", get(entrance))
        .route("/session", post(session))
        .route("/assets/review.css", get(|| asset(include_str!("assets/review.css"), "text/css")))
        .route("/assets/review.js", get(|| asset(include_str!("assets/review.js"), "text/javascript")))
        .route("/assets/uplot.css", get(|| asset(include_str!("assets/uPlot.min.css"), "text/css")))
        .route("/assets/uplot.js", get(|| asset(include_str!("assets/uPlot.iife.min.js"), "text/javascript")))
        .merge(inside)
        .with_state(site)
        .layer(DefaultBodyLimit::max(MAX_FORM))
        .layer(from_fn(guarded))
}

/// Refuses names that are not the loopback's, and marks every answer as private and self-contained.
async fn guarded(request: Request, next: Next) -> Answer {
    if !is_local(request.headers()) {
        return (StatusCode::MISDIRECTED_REQUEST, "this server answers on the loopback interface only").into_response();
    }
    let mut answer = next.run(request).await;
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Without any, browsers hide where a form comes from, too.
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

async fn with_session(State(site): State<Site>, request: Request, next: Next) -> Answer {
    if site.keys.has_session(request.headers()) { next.run(request).await } else { redirect("/") }
}

async fn asset(text: &'static str, kind: &'static str) -> Answer {
    ([(header::CONTENT_TYPE, format!("{kind}; charset=utf-8"))], text).into_response()
}

async fn entrance(State(site): State<Site>, headers: HeaderMap) -> Answer {
    if site.keys.has_session(&headers) { redirect("/queue") } else { page(StatusCode::OK, door(language(&headers))) }
}

/// Trades the token for a session.
async fn session(State(site): State<Site>, headers: HeaderMap, body: String) -> Answer {
    if !is_same_origin(&headers) || !site.keys.is_token(body.trim()) {
        return (StatusCode::FORBIDDEN, "not the token of this server").into_response();
    }
    ([(header::SET_COOKIE, site.keys.session_cookie())], "").into_response()
}

/// What a request asks, apart from its form.
struct Asked {
    site: Site,
    headers: HeaderMap,
    query: String,
    /// The incident that the address names; empty where it names none.
    id: String,
}

impl FromRequestParts<Site> for Asked {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, Infallible> {
        let mut names = Path::<HashMap<String, String>>::from_request_parts(parts, site).await;
        let id = names.as_mut().ok().and_then(|names| names.remove("id")).unwrap_or_default();
        let query = parts.uri.query().unwrap_or_default().to_owned();
        Ok(Self { site: site.clone(), headers: parts.headers.clone(), query, id })
    }
}

impl Asked {
    /// Works on the answer beside the threads that talk to browsers: files are read.
    async fn answer(self, work: impl FnOnce(&Self) -> Result<Answer, ReviewError> + Send + 'static) -> Answer {
        let answered = tokio::task::spawn_blocking(move || work(&self).unwrap_or_else(|error| self.problem(&error)));
        let failed = |_| (StatusCode::INTERNAL_SERVER_ERROR, "the page could not be made").into_response();
        answered.await.unwrap_or_else(failed)
    }

    /// The page of what went wrong on this machine.
    fn problem(&self, error: &ReviewError) -> Answer {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        match self.view("/queue".to_owned()) {
            Ok(view) => page(status, problem_page(&view, &error.to_string())),
            Err(_) => (status, error.to_string()).into_response(),
        }
    }

    /// A value of the query.
    fn value(&self, name: &str) -> Option<String> {
        let pair = form_urlencoded::parse(self.query.as_bytes()).find(|(other, _)| other == name);
        pair.map(|(_, value)| value.into_owned())
    }

    fn filter(&self) -> Filter {
        Filter::parse(&self.query)
    }

    fn incident(&self) -> Option<IncidentId> {
        IncidentId::parse(&self.id)
    }

    /// What a page at this place is made with.
    fn view(&self, here: String) -> Result<View<'_>, ReviewError> {
        let Site { desk, keys } = &self.site;
        let language = language(&self.headers);
        let theme = match cookie(&self.headers, "hindcast_theme") {
            Some("light") => "light",
            Some("dark") => "dark",
            _ => "system",
        };
        let progress = desk.progress(&desk.standing()?);
        Ok(View { desk, language, words: language.words(), theme, mark: keys.mark(), here, progress })
    }

    /// The page of its case.
    fn show(&self, draft: &Draft, notice: &Notice, status: StatusCode) -> Result<Answer, ReviewError> {
        let filter = self.filter();
        let view = self.view(format!("/case/{}{}", self.id, filter.query(&[])))?;
        let desk = &self.site.desk;
        let sheet = self.incident().map_or(Ok(None), |id| desk.sheet(&id))?;
        let Some(sheet) = sheet else {
            return Ok(page(StatusCode::NOT_FOUND, problem_page(&view, view.words.no_such_case)));
        };
        let around = around(desk, &filter, &self.id)?;
        let (view, filter, sheet, around) = (&view, &filter, &sheet, &around);
        Ok(page(status, SheetPage { view, filter, sheet, around, draft, notice }.markup()))
    }

    /// The refusal of a change that does not come from a page of this server.
    fn refused(&self, form: &Form) -> Option<Answer> {
        let is_ours = is_same_origin(&self.headers) && self.site.keys.is_mark(form.get("mark"));
        (!is_ours).then(|| (StatusCode::FORBIDDEN, "not sent by a page of this server").into_response())
    }
}

async fn queue(asked: Asked) -> Answer {
    asked
        .answer(|asked| {
            let filter = asked.filter();
            let desk = &asked.site.desk;
            let standing = desk.standing()?;
            let view = asked.view(format!("/queue{}", filter.query(&[("page", &filter.page.to_string())])))?;
            Ok(page(StatusCode::OK, queue_page(&view, &filter, &desk.select(&filter, &standing))))
        })
        .await
}

async fn case(asked: Asked) -> Answer {
    asked
        .answer(|asked| {
            let done = asked.value("done").and_then(|id| IncidentId::parse(&id));
            let notice = done.map_or(Notice::Nothing, |id| Notice::Done(id.to_string()));
            asked.show(&Draft::default(), &notice, StatusCode::OK)
        })
        .await
}

/// Where a case stands among those that the filter takes.
fn around(desk: &Desk, filter: &Filter, id: &str) -> Result<Around, ReviewError> {
    let standing = desk.standing()?;
    let waiting = desk.select(filter, &standing);
    let at = waiting.iter().position(|one| one.row.incident_id == id);
    let id_at = |index: usize| waiting.get(index).map(|one| one.row.incident_id.clone());
    // From the case on, and once around.
    let rest = waiting.iter().cycle().skip(at.map_or(0, |at| at + 1)).take(waiting.len());
    let open = rest.filter(|one| !one.is_decided() && one.row.incident_id != id).map(|one| &one.row.incident_id).next();
    Ok(Around {
        position: at.map(|at| at + 1),
        total: waiting.len(),
        previous: at.and_then(|at| id_at(at.checked_sub(1)?)),
        next: at.map_or_else(|| id_at(0), |at| id_at(at + 1)),
        open: open.cloned(),
    })
}

async fn decide(asked: Asked, body: Bytes) -> Answer {
    asked
        .answer(move |asked| {
            let form = Form::parse(&body);
            if let Some(refused) = asked.refused(&form) {
                return Ok(refused);
            }
            let draft = form.draft();
            let decision = match (form.get("decision"), draft.level) {
                ("accept", _) => Decision::Accept,
                ("other", Some(level)) if !draft.reason.trim().is_empty() => {
                    Decision::other(level, draft.mismatch.clone(), draft.reason.clone())
                }
                _ => return asked.show(&draft, &Notice::ReasonNeeded, StatusCode::UNPROCESSABLE_ENTITY),
            };
            let Some(incident) = asked.incident() else {
                return asked.show(&draft, &Notice::Nothing, StatusCode::NOT_FOUND);
            };
            // Where to go on is found before the queue changes.
            let (desk, filter) = (&asked.site.desk, asked.filter());
            let next = around(desk, &filter, &asked.id)?.open.unwrap_or_else(|| asked.id.clone());
            let review = Review { decision, windows: draft.windows.clone() };
            match desk.decide(&incident, form.get("seen"), &review) {
                Ok(_) => Ok(redirect(&format!("/case/{next}{}", filter.query(&[("done", &asked.id)])))),
                Err(ReviewError::Conflict { .. }) => asked.show(&draft, &Notice::Conflict, StatusCode::CONFLICT),
                Err(error) => {
                    asked.show(&draft, &Notice::NotKept(error.to_string()), StatusCode::INTERNAL_SERVER_ERROR)
                }
            }
        })
        .await
}

async fn undo(asked: Asked, body: Bytes) -> Answer {
    asked
        .answer(move |asked| {
            if let Some(refused) = asked.refused(&Form::parse(&body)) {
                return Ok(refused);
            }
            let here = format!("/case/{}{}", asked.id, asked.filter().query(&[]));
            let undone = asked.incident().map(|incident| asked.site.desk.undo(&incident));
            let view = asked.view(here.clone())?;
            match undone {
                Some(Ok(_)) => Ok(redirect(&here)),
                None => Ok(page(StatusCode::NOT_FOUND, problem_page(&view, view.words.no_such_case))),
                Some(Err(ReviewError::NothingToUndo(_))) => {
                    Ok(page(StatusCode::CONFLICT, problem_page(&view, view.words.nothing_to_undo)))
                }
                Some(Err(ReviewError::Conflict { .. })) => {
                    asked.show(&Draft::default(), &Notice::Conflict, StatusCode::CONFLICT)
                }
                Some(Err(error)) => Err(error),
            }
        })
        .await
}

async fn transcript(asked: Asked) -> Answer {
    asked.answer(|asked| of_transcript(asked, transcript_page)).await
}

/// Steps of a transcript for a page that is open already.
async fn part(asked: Asked) -> Answer {
    asked.answer(|asked| of_transcript(asked, transcript_part)).await
}

fn of_transcript(
    asked: &Asked,
    made: fn(&View<'_>, &IncidentId, &Transcript, usize) -> Markup,
) -> Result<Answer, ReviewError> {
    let from = asked.value("from").and_then(|from| from.parse().ok()).unwrap_or(0);
    let view = asked.view(format!("/case/{}/transcript?from={from}", asked.id))?;
    let found = asked.incident().and_then(|id| Some((asked.site.desk.transcript(&id)?, id)));
    Ok(match found {
        Some((transcript, id)) => page(StatusCode::OK, made(&view, &id, &transcript, from)),
        None => page(StatusCode::NOT_FOUND, problem_page(&view, view.words.no_transcript)),
    })
}

/// One step as plain text.
async fn step(Path((_, step)): Path<(String, usize)>, asked: Asked) -> Answer {
    asked
        .answer(move |asked| {
            let text = asked.incident().and_then(|id| step_text(&asked.site.desk.transcript(&id)?, step));
            Ok(match text {
                Some(text) => ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response(),
                None => StatusCode::NOT_FOUND.into_response(),
            })
        })
        .await
}

/// Keeps language and colours in the browser.
async fn preferences(asked: Asked, body: Bytes) -> Answer {
    let form = Form::parse(&body);
    if let Some(refused) = asked.refused(&form) {
        return refused;
    }
    // Only a place on this server.
    let back = form.get("back");
    let is_here = back.starts_with('/') && !back.starts_with("//") && !back.contains(['\\', '\r', '\n']);
    let mut answer = redirect(if is_here { back } else { "/queue" });
    for (name, known) in [("language", ["en", "zh"]), ("theme", ["light", "dark"])] {
        if let Some(value) = known.into_iter().find(|value| *value == form.get(name)) {
            let kept = format!("hindcast_{name}={value}; Path=/; SameSite=Strict; Max-Age=31536000");
            answer.headers_mut().append(header::SET_COOKIE, HeaderValue::from_str(&kept).expect("plain letters"));
        }
    }
    answer
}

/// What a form sends.
struct Form(Vec<(String, String)>);

impl Form {
    fn parse(body: &[u8]) -> Self {
        Self(form_urlencoded::parse(body).into_owned().collect())
    }

    fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value)
    }

    /// What the reviewer entered.
    fn draft(&self) -> Draft {
        let mismatch = self.0.iter().filter(|(name, _)| name == "mismatch");
        let windows = self.0.iter().filter_map(|(name, value)| {
            let index: usize = name.strip_prefix("assessment-")?.parse().ok()?;
            let notes = self.get(&format!("notes-{index}")).lines().map(str::trim).filter(|line| !line.is_empty());
            let notes = notes.map(str::to_owned).collect();
            Some(WindowEdit { index, assessment: Assessment::recognise(value), notes })
        });
        Draft {
            is_sent: true,
            level: MatchLevel::recognise(self.get("level")),
            mismatch: mismatch.filter_map(|(_, value)| MismatchType::recognise(value)).collect(),
            reason: self.get("reason").replace('\r', ""),
            windows: windows.collect(),
        }
    }
}

fn language(headers: &HeaderMap) -> Language {
    match cookie(headers, "hindcast_language") {
        Some("zh") => Language::Chinese,
        Some("en") => Language::English,
        _ => {
            let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
            Language::accepted(accepted.unwrap_or_default())
        }
    }
}

fn page(status: StatusCode, markup: Markup) -> Answer {
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], markup.into_string()).into_response()
}

fn redirect(to: &str) -> Answer {
    match HeaderValue::from_str(to) {
        Ok(place) => (StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response(),
        Err(_) => (StatusCode::SEE_OTHER, [(header::LOCATION, "/queue")]).into_response(),
    }
}
