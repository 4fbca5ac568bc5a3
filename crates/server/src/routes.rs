//! Which request gets which page.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use hindcast_case::{Assessment, IncidentId, MatchLevel, MismatchType, Vocabulary};
use hindcast_review::{Decision, Review, ReviewError, WindowEdit};
use maud::Markup;

use crate::access::{Keys, cookie, is_local, is_same_origin};
use crate::desk::Desk;
use crate::filter::Filter;
use crate::pages::{
    Around, Draft, Notice, View, door, problem_page, queue_page, sheet_page, step_text, transcript_page,
    transcript_part,
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

async fn queue(State(site): State<Site>, headers: HeaderMap, RawQuery(query): RawQuery) -> Answer {
    blocking(move || {
        let filter = Filter::parse(&query.unwrap_or_default());
        let standing = site.desk.standing()?;
        let here = format!("/queue{}", filter.query(&[("page", &filter.page.to_string())]));
        let view = view(&site, &headers, here)?;
        Ok(page(StatusCode::OK, queue_page(&view, &filter, &site.desk.select(&filter, &standing))))
    })
    .await
}

async fn case(
    State(site): State<Site>,
    headers: HeaderMap,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Answer {
    blocking(move || {
        let query = query.unwrap_or_default();
        let done = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "done");
        let done = done.and_then(|(_, id)| IncidentId::parse(&id));
        let notice = done.map_or(Notice::Nothing, |id| Notice::Done(id.to_string()));
        let filter = Filter::parse(&query);
        show(&site, &headers, &id, &filter, &Draft::default(), &notice, StatusCode::OK)
    })
    .await
}

/// The page of a case.
fn show(
    site: &Site,
    headers: &HeaderMap,
    id: &str,
    filter: &Filter,
    draft: &Draft,
    notice: &Notice,
    status: StatusCode,
) -> Result<Answer, ReviewError> {
    let view = view(site, headers, format!("/case/{id}{}", filter.query(&[])))?;
    let sheet = match IncidentId::parse(id) {
        Some(id) => site.desk.sheet(&id)?,
        None => None,
    };
    let Some(sheet) = sheet else {
        return Ok(page(StatusCode::NOT_FOUND, problem_page(&view, view.words.no_such_case)));
    };
    let around = around(&site.desk, filter, id)?;
    Ok(page(status, sheet_page(&view, filter, &sheet, &around, draft, notice)))
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

async fn decide(
    State(site): State<Site>,
    headers: HeaderMap,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    body: Bytes,
) -> Answer {
    blocking(move || {
        let form = Form::parse(&body);
        if let Some(refused) = refused(&site, &headers, &form) {
            return Ok(refused);
        }
        let filter = Filter::parse(&query.unwrap_or_default());
        let draft = form.draft();
        let again = |status, notice| show(&site, &headers, &id, &filter, &draft, &notice, status);
        let decision = match (form.get("decision"), draft.level) {
            ("accept", _) => Decision::Accept,
            ("other", Some(level)) if !draft.reason.trim().is_empty() => {
                Decision::other(level, draft.mismatch.clone(), draft.reason.clone())
            }
            _ => return again(StatusCode::UNPROCESSABLE_ENTITY, Notice::ReasonNeeded),
        };
        let Some(incident) = IncidentId::parse(&id) else {
            return again(StatusCode::NOT_FOUND, Notice::Nothing);
        };
        // Where to go on is found before the queue changes.
        let next = around(&site.desk, &filter, &id)?.open;
        let review = Review { decision, windows: draft.windows.clone() };
        match site.desk.decide(&incident, form.get("seen"), &review) {
            Ok(_) => {
                let done = filter.query(&[("done", &id)]);
                Ok(redirect(&format!("/case/{}{done}", next.unwrap_or_else(|| id.clone()))))
            }
            Err(ReviewError::Conflict { .. }) => again(StatusCode::CONFLICT, Notice::Conflict),
            Err(error) => Err(error),
        }
    })
    .await
}

async fn undo(
    State(site): State<Site>,
    headers: HeaderMap,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    body: Bytes,
) -> Answer {
    blocking(move || {
        let form = Form::parse(&body);
        if let Some(refused) = refused(&site, &headers, &form) {
            return Ok(refused);
        }
        let filter = Filter::parse(&query.unwrap_or_default());
        let here = format!("/case/{id}{}", filter.query(&[]));
        let view = view(&site, &headers, here.clone())?;
        let Some(incident) = IncidentId::parse(&id) else {
            return Ok(page(StatusCode::NOT_FOUND, problem_page(&view, view.words.no_such_case)));
        };
        match site.desk.undo(&incident) {
            Ok(_) => Ok(redirect(&here)),
            Err(ReviewError::NothingToUndo(_)) => {
                Ok(page(StatusCode::CONFLICT, problem_page(&view, view.words.nothing_to_undo)))
            }
            Err(ReviewError::Conflict { .. }) => {
                show(&site, &headers, &id, &filter, &Draft::default(), &Notice::Conflict, StatusCode::CONFLICT)
            }
            Err(error) => Err(error),
        }
    })
    .await
}

async fn transcript(
    State(site): State<Site>,
    headers: HeaderMap,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Answer {
    transcript_from(site, headers, id, query, true).await
}

async fn part(
    State(site): State<Site>,
    headers: HeaderMap,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Answer {
    transcript_from(site, headers, id, query, false).await
}

async fn transcript_from(site: Site, headers: HeaderMap, id: String, query: Option<String>, is_page: bool) -> Answer {
    blocking(move || {
        let query = query.unwrap_or_default();
        let from = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "from");
        let from = from.and_then(|(_, from)| from.parse().ok()).unwrap_or(0);
        let view = view(&site, &headers, format!("/case/{id}/transcript?from={from}"))?;
        let found = IncidentId::parse(&id).and_then(|id| Some((site.desk.transcript(&id)?, id)));
        let Some((transcript, id)) = found else {
            return Ok(page(StatusCode::NOT_FOUND, problem_page(&view, view.words.no_transcript)));
        };
        let markup = match is_page {
            true => transcript_page(&view, &id, &transcript, from),
            false => transcript_part(&view, &id, &transcript, from),
        };
        Ok(page(StatusCode::OK, markup))
    })
    .await
}

/// One step as plain text.
async fn step(State(site): State<Site>, Path((id, step)): Path<(String, usize)>) -> Answer {
    blocking(move || {
        let text = IncidentId::parse(&id).and_then(|id| step_text(&site.desk.transcript(&id)?, step));
        Ok(match text {
            Some(text) => ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response(),
            None => StatusCode::NOT_FOUND.into_response(),
        })
    })
    .await
}

/// Keeps language and colours in the browser.
async fn preferences(State(site): State<Site>, headers: HeaderMap, body: Bytes) -> Answer {
    let form = Form::parse(&body);
    if let Some(refused) = refused(&site, &headers, &form) {
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

/// The refusal of a change that does not come from a page of this server.
fn refused(site: &Site, headers: &HeaderMap, form: &Form) -> Option<Answer> {
    let is_ours = is_same_origin(headers) && site.keys.is_mark(form.get("mark"));
    (!is_ours).then(|| (StatusCode::FORBIDDEN, "not sent by a page of this server").into_response())
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

fn view<'a>(site: &'a Site, headers: &HeaderMap, here: String) -> Result<View<'a>, ReviewError> {
    let language = language(headers);
    let theme = match cookie(headers, "hindcast_theme") {
        Some("light") => "light",
        Some("dark") => "dark",
        _ => "system",
    };
    let progress = site.desk.progress(&site.desk.standing()?);
    let mark = site.keys.mark();
    Ok(View { desk: &site.desk, language, words: language.words(), theme, mark, here, progress })
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

/// Files are read beside the threads that answer.
async fn blocking(work: impl FnOnce() -> Result<Answer, ReviewError> + Send + 'static) -> Answer {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "the page could not be made").into_response(),
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
