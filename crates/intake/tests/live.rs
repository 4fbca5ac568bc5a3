//! A server that plays Jira and GitHub: both searches, rate limits, broken pages, interruptions, long issues.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use hindcast_intake::{GithubIssue, HttpError, Item, LiveError, LiveJira, Retry, Settings, Ticket, read_github};
use serde_json::{Value, json};
use wiremock::matchers::{header, method, path, path_regex, query_param};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

const QUICK: Retry = Retry { attempts: 3, first_wait: Duration::from_millis(1), timeout: Duration::from_secs(10) };

/// What a source gave out.
#[derive(Debug, Default)]
struct Given {
    tickets: Vec<Ticket>,
    problems: Vec<String>,
    checkpoints: usize,
}

impl Given {
    fn take(&mut self, item: Item) -> ControlFlow<()> {
        match item {
            Item::Record(record) => {
                for ticket in record.read(&Settings::default()) {
                    self.tickets.push(ticket.expect("a ticket"));
                }
            }
            Item::Problem { place, message } => self.problems.push(format!("{place}: {message}")),
            Item::Remark { .. } => {}
            Item::Checkpoint => self.checkpoints += 1,
        }
        ControlFlow::Continue(())
    }

    fn keys(&self) -> Vec<&str> {
        self.tickets.iter().map(|ticket| ticket.key.as_str()).collect()
    }
}

/// Runs a search on a thread of its own, as the client blocks.
async fn search(site: String, journal: Option<&Path>) -> (Given, Result<(), LiveError>) {
    let journal = journal.map(Path::to_owned);
    let run = move || {
        let environment = |name: &str| (name == "HINDCAST_JIRA_TOKEN").then(|| "s3cret".to_owned());
        let jira = LiveJira::new(&site, "project = GTOC", &environment, journal.as_deref(), QUICK).expect("an address");
        let mut given = Given::default();
        let ended = jira.read(&mut |item| given.take(item));
        (given, ended)
    };
    tokio::task::spawn_blocking(run).await.expect("no panic")
}

fn issue(number: usize) -> Value {
    json!({"key": format!("GTOC-{number}"), "fields": {"summary": format!("slow {number}"), "created": "2024-12-04T09:14:28.000+0800",
        "customfield_7": {"displayName": "Lee"}, "comment": {"total": 0, "comments": []}}})
}

async fn fields(server: &MockServer) {
    let names = json!([{"id": "customfield_7", "name": "L2 Assignee"}]);
    let answer = ResponseTemplate::new(200).set_body_json(names);
    Mock::given(path("/rest/api/2/field")).respond_with(answer).mount(server).await;
}

/// The new search: pages of two issues by token, `p1` to `p3`.
struct NewSearch;

impl Respond for NewSearch {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let token =
            request.url.query_pairs().find(|(key, _)| key == "nextPageToken").map(|(_, token)| token.into_owned());
        let page = token.map_or(1, |token| token[1..].parse::<usize>().expect("a token of ours"));
        let issues = [issue(page * 2 - 1), issue(page * 2)];
        let body = if page == 3 {
            json!({"issues": issues, "isLast": true})
        } else {
            json!({"issues": issues, "isLast": false, "nextPageToken": format!("p{}", page + 1)})
        };
        ResponseTemplate::new(200).set_body_json(body)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_new_search_is_read_page_by_page() {
    let server = MockServer::start().await;
    fields(&server).await;
    let search_path = path("/rest/api/3/search/jql");
    let with_token = header("authorization", "Bearer s3cret");
    Mock::given(method("GET")).and(search_path).and(with_token).respond_with(NewSearch).mount(&server).await;
    let (given, ended) = search(server.uri(), None).await;
    ended.expect("no error");
    assert_eq!(given.keys(), ["GTOC-1", "GTOC-2", "GTOC-3", "GTOC-4", "GTOC-5", "GTOC-6"]);
    assert_eq!(
        given.tickets[0].l2.as_ref().map(|person| person.name.as_str()),
        Some("Lee"),
        "found by the field's name"
    );
    assert_eq!(given.checkpoints, 2);
    let asked = server.received_requests().await.expect("recorded");
    let jql = asked.iter().filter_map(|request| request.url.query_pairs().find(|(key, _)| key == "jql"));
    assert!(jql.map(|(_, jql)| jql.into_owned()).all(|jql| jql == "project = GTOC ORDER BY key ASC"));
}

/// The old search: five issues, by number; the third one breaks every page that it is on.
struct OldSearch;

impl Respond for OldSearch {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let number = |name: &str| {
            let value = request.url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
            value.and_then(|value| value.parse::<usize>().ok()).expect("a number")
        };
        let (start, size) = (number("startAt"), number("maxResults"));
        let shown: Vec<usize> = (start..(start + size).min(5)).collect();
        if shown.contains(&2) {
            return ResponseTemplate::new(200).set_body_string("{\"issues\": [{\"key\": \"GTOC-3\", \"fields\":");
        }
        let issues: Vec<Value> = shown.iter().map(|at| issue(at + 1)).collect();
        ResponseTemplate::new(200)
            .set_body_json(json!({"startAt": start, "maxResults": size, "total": 5, "issues": issues}))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_old_search_goes_around_a_broken_issue() {
    let server = MockServer::start().await;
    fields(&server).await;
    Mock::given(path("/rest/api/2/search")).respond_with(OldSearch).mount(&server).await;
    let (given, ended) = search(server.uri(), None).await;
    ended.expect("no error");
    assert_eq!(given.keys(), ["GTOC-1", "GTOC-2", "GTOC-4", "GTOC-5"]);
    assert_eq!(given.problems.len(), 1);
    assert!(given.problems[0].contains("issue 3 of the search"), "{:?}", given.problems);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_server_is_asked_again() {
    let server = MockServer::start().await;
    fields(&server).await;
    let busy = ResponseTemplate::new(429).insert_header("Retry-After", "1");
    Mock::given(path("/rest/api/3/search/jql")).respond_with(busy).up_to_n_times(1).mount(&server).await;
    let down = ResponseTemplate::new(503);
    Mock::given(path("/rest/api/3/search/jql")).respond_with(down).up_to_n_times(1).mount(&server).await;
    Mock::given(path("/rest/api/3/search/jql")).respond_with(NewSearch).mount(&server).await;
    let began = std::time::Instant::now();
    let (given, ended) = search(server.uri(), None).await;
    ended.expect("no error");
    assert_eq!(given.tickets.len(), 6);
    assert!(began.elapsed() >= Duration::from_secs(1), "as long as the server asked for");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_search_goes_on_where_it_stopped() {
    let journal = tempfile::tempdir().expect("a folder");
    let server = MockServer::start().await;
    fields(&server).await;
    // The last page fails, for as long as it is tried.
    let failing = Mock::given(path("/rest/api/3/search/jql")).and(query_param("nextPageToken", "p3"));
    failing.respond_with(ResponseTemplate::new(500)).up_to_n_times(3).with_priority(1).mount(&server).await;
    Mock::given(path("/rest/api/3/search/jql")).respond_with(NewSearch).mount(&server).await;
    let (given, ended) = search(server.uri(), Some(journal.path())).await;
    assert!(matches!(ended, Err(LiveError::Http(HttpError::Status { status: 500, .. }))), "{ended:?}");
    assert_eq!(given.keys(), ["GTOC-1", "GTOC-2", "GTOC-3", "GTOC-4"], "what came before is kept");

    let (given, ended) = search(server.uri(), Some(journal.path())).await;
    ended.expect("no error");
    assert_eq!(given.keys(), ["GTOC-5", "GTOC-6"]);
    assert_eq!(std::fs::read_dir(journal.path()).expect("a folder").count(), 0, "a finished search leaves nothing");
}

/// Comments by number, a hundred a page at most.
struct Comments(usize);

impl Respond for Comments {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let start = request.url.query_pairs().find(|(key, _)| key == "startAt").expect("a start").1.parse::<usize>();
        let start = start.expect("a number");
        let comments: Vec<Value> = (start..(start + 100).min(self.0)).map(comment).collect();
        ResponseTemplate::new(200).set_body_json(json!({"startAt": start, "total": self.0, "comments": comments}))
    }
}

fn comment(number: usize) -> Value {
    json!({"author": {"displayName": "Bo"}, "created": "2024-12-04T10:00:00.000+0800", "body": format!("comment {number}")})
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_of_ten_thousand_comments_is_read_whole() {
    let server = MockServer::start().await;
    fields(&server).await;
    let mut long = issue(1);
    long["fields"]["comment"] = json!({"total": 10_000, "comments": (0..20).map(comment).collect::<Vec<_>>()});
    let page = ResponseTemplate::new(200).set_body_json(json!({"issues": [long], "isLast": true}));
    Mock::given(path("/rest/api/3/search/jql")).respond_with(page).mount(&server).await;
    Mock::given(path("/rest/api/3/issue/GTOC-1/comment")).respond_with(Comments(10_000)).mount(&server).await;
    let (given, ended) = search(server.uri(), None).await;
    ended.expect("no error");
    let ticket = &given.tickets[0];
    assert_eq!(ticket.comments.len(), 10_000);
    assert_eq!(ticket.comments[9_999].body.text, "comment 9999");
    assert!(ticket.doubts.is_empty(), "{:?}", ticket.doubts);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_credentials_say_what_to_set_and_show_nothing() {
    let server = MockServer::start().await;
    Mock::given(path_regex(".*")).respond_with(ResponseTemplate::new(401)).mount(&server).await;
    let (_, ended) = search(server.uri(), None).await;
    let error = ended.expect_err("refused");
    let told = format!("{error} {error:?}");
    assert!(told.contains("HINDCAST_JIRA_TOKEN") && !told.contains("s3cret"), "{told}");
}

#[test]
fn credentials_are_not_sent_in_the_clear() {
    let environment = |_: &str| Some("s3cret".to_owned());
    let refused = LiveJira::new("http://jira.example.com", "x", &environment, None, QUICK).expect_err("no");
    assert!(matches!(refused, LiveError::Unencrypted(_)), "{refused}");
    for address in ["jira.example.com", "ftp://x", "https://", "https://user:pass@jira.example.com"] {
        let refused = LiveJira::new(address, "x", &environment, None, QUICK);
        assert!(matches!(refused, Err(LiveError::Address(_))), "{address}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn github_threads_come_with_comments_and_timeline() {
    let server = MockServer::start().await;
    let base = "/repos/tikv/tikv/issues/7";
    let issue = json!({"number": 7, "html_url": "https://github.com/tikv/tikv/issues/7", "title": "slow", "body": "b", "comments": 150,
        "created_at": "2025-02-21T08:00:00Z", "user": {"login": "ann"}});
    Mock::given(path(base)).respond_with(ResponseTemplate::new(200).set_body_json(issue)).mount(&server).await;
    let page = |from: usize, to: usize| -> Vec<Value> {
        (from..to)
            .map(|n| json!({"user": {"login": "bo"}, "created_at": "2025-02-22T08:00:00Z", "body": format!("{n}")}))
            .collect()
    };
    for (number, list) in [("1", page(0, 100)), ("2", page(100, 150))] {
        let answer = ResponseTemplate::new(200).set_body_json(list);
        Mock::given(path(format!("{base}/comments")))
            .and(query_param("page", number))
            .respond_with(answer)
            .mount(&server)
            .await;
    }
    let none = ResponseTemplate::new(200).set_body_json(json!([]));
    Mock::given(path(format!("{base}/timeline"))).respond_with(none).mount(&server).await;
    let uri = server.uri();
    let run = move || {
        let environment = |name: &str| (name == "GITHUB_API_URL").then(|| uri.clone());
        let issues = ["tikv/tikv#7", "tikv/tikv#8"].map(|text| GithubIssue::parse(text).expect("an issue"));
        let mut given = Given::default();
        read_github(&issues, &environment, QUICK, &mut |item| given.take(item)).expect("no error");
        given
    };
    let given = tokio::task::spawn_blocking(run).await.expect("no panic");
    assert_eq!((given.keys(), given.tickets[0].comments.len()), (vec!["TIKV-7"], 150));
    assert!(given.problems[0].starts_with("tikv/tikv#8"), "{:?}", given.problems);
}
