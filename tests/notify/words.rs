//! Templates: what the built-in ones say, what own ones may do, and that nothing that a target or a user wrote
//! breaks out of its place.

use serde_json::{Value, json};
use vigie::domain::{NotificationContent, NotificationKind, NotificationMethod};
use vigie::notify::{MessageRenderer, MessageTemplate, RenderedMessage};

use super::kit::notice;

const HOSTILE: &str =
    "</td><script>alert('1')</script>\"'&{{ brand }}{% for %}\r\nBcc: eve@evil.test\r\n\u{0}\u{1b}[2J";

fn hostile(kind: NotificationKind) -> NotificationContent {
    let mut content = notice(kind);
    HOSTILE.clone_into(&mut content.monitor_name);
    HOSTILE.clone_into(&mut content.brand);
    HOSTILE.clone_into(&mut content.status_text);
    content.reasons = vec![HOSTILE.to_owned(); 3];
    HOSTILE.clone_into(&mut content.alert_note);
    content.target = format!("http://a.test/{HOSTILE}");
    HOSTILE.clone_into(&mut content.location);
    content.properties = vec![(HOSTILE.to_owned(), HOSTILE.to_owned())];
    content.step = Some((1, HOSTILE.to_owned()));
    content.certificate = json!({"subject": HOSTILE, "issuer": HOSTILE, "not_after": HOSTILE});
    content.extra.insert("traceroute".to_owned(), json!(HOSTILE));
    content.extra.insert("trace_id".to_owned(), json!(HOSTILE));
    let view =
        json!({"id": "4", "name": HOSTILE, "status": "7", "status_text": HOSTILE, "reasons": [HOSTILE]});
    content.extra.insert("content_views".to_owned(), json!([view]));
    content
}

fn compose(content: &NotificationContent, method: NotificationMethod) -> RenderedMessage {
    MessageRenderer::default().render(content, method, None).unwrap()
}

fn own(method: Option<NotificationMethod>, subject: &str, text: &str, html: &str) -> MessageTemplate {
    MessageTemplate {
        kind: None,
        method,
        subject: subject.to_owned(),
        text: text.to_owned(),
        html: html.to_owned(),
    }
}

#[test]
fn the_subject_is_the_one_that_people_filter_by() {
    let words = compose(&notice(NotificationKind::SiteError), NotificationMethod::MailHtml);
    assert_eq!(words.subject, "[Vigie] Site/Device Alert (ST=7) - Shop \"front\" <page> HTTP error status");
    let words = compose(&notice(NotificationKind::SiteClear), NotificationMethod::MailText);
    assert_eq!(words.subject, "[Vigie] Site/Device Clear (ST=0) - Shop \"front\" <page> is up again");
    assert!(words.html.is_none());
}

#[test]
fn the_built_in_text_tells_all_that_there_is_and_no_more() {
    let words = compose(&notice(NotificationKind::SiteError), NotificationMethod::MailText);
    let expected = "\
Site Error: Shop \"front\" <page>
HTTP error status (ST=7)

- `503 Service Unavailable` from `http://shop.test/`

call the night desk

Time:      2026-11-21T12:00:00Z
Since:     2026-11-21T11:58:00Z (2 min)
Monitor:   Shop \"front\" <page> (website, 7)
Target:    http://shop.test/
HTTP:      503
Failures:  3 in a row
Seen from: local
team: shop

Phases:
  ## resolve 1.2 ms
  ############################ connect 20.0 ms
  ## first byte 800 µs
";
    assert_eq!(words.text, expected);
}

#[test]
fn every_kind_has_words_by_every_method() {
    for (kind, ..) in NotificationKind::ALL {
        for (method, ..) in NotificationMethod::ALL {
            let words = compose(&notice(kind), method);
            assert!(!words.subject.is_empty() && !words.text.is_empty(), "{kind:?} {method:?}");
            assert_eq!(words.html.is_some(), method == NotificationMethod::MailHtml);
            assert!(!words.text.contains("{{") && !words.text.contains("\n\n\n"), "{}", words.text);
            if let Some(html) = words.html {
                assert!(html.starts_with("<!DOCTYPE html>") && html.trim_end().ends_with("</html>"));
            }
        }
    }
}

#[test]
fn nothing_hostile_breaks_out_of_html() {
    for (kind, ..) in NotificationKind::ALL {
        let html = compose(&hostile(kind), NotificationMethod::MailHtml).html.unwrap();
        assert!(!html.contains("<script") && !html.contains("</td><script"), "{html}");
        // What stands in the tags of the template is all that is there.
        let tags = html.matches('<').count();
        let mut tame = notice(kind);
        tame.extra.insert("trace_id".to_owned(), json!("0123"));
        tame.extra.insert(
            "content_views".to_owned(),
            json!([{"id": "4", "name": "Pictures", "status_text": "bad"}]),
        );
        let tame = compose(&tame, NotificationMethod::MailHtml).html.unwrap();
        assert!(tags <= tame.matches('<').count() + 30, "{tags}: {html}");
        assert!(!html.contains('\u{0}') && !html.contains('\u{1b}'));
        assert!(html.contains("{{ brand }}") || !html.contains("brand"), "values are no templates: {html}");
    }
}

#[test]
fn nothing_hostile_makes_a_second_line_of_a_subject() {
    for (kind, ..) in NotificationKind::ALL {
        for template in [None, Some(own(None, "{{ device_name }}\r\nX: {{ alert_note }}\n", "", ""))] {
            let words = MessageRenderer::default()
                .render(&hostile(kind), NotificationMethod::MailHtml, template.as_ref())
                .unwrap();
            assert!(!words.subject.contains(char::is_control), "{:?}", words.subject);
            assert!(words.subject.chars().count() <= 250);
        }
    }
}

#[test]
fn an_own_json_body_holds_whatever_stands_in_the_values() {
    let template = own(
        Some(NotificationMethod::JsonPost),
        "",
        "{\"name\": {{ device_name }}, \"why\": {{ reasons }}, \"n\": {{ errcount }}, \"up\": {{ is_clear }}}",
        "",
    );
    let words = MessageRenderer::default()
        .render(&hostile(NotificationKind::SiteError), NotificationMethod::JsonPost, Some(&template))
        .unwrap();
    let body: Value = serde_json::from_str(words.body.as_deref().unwrap()).unwrap();
    assert!(body["name"].as_str().unwrap().starts_with("</td><script>alert('1')"), "{body}");
    assert_eq!(body["why"].as_array().unwrap().len(), 3);
    assert_eq!((&body["n"], &body["up"]), (&json!("3"), &json!(false)));
    assert_eq!(body.as_object().unwrap().len(), 4);
    // A template for any method is words there, and no body.
    let any = own(None, "", "just words", "");
    let words = MessageRenderer::default()
        .render(&notice(NotificationKind::Test), NotificationMethod::JsonPost, Some(&any))
        .unwrap();
    assert_eq!((words.text.as_str(), words.body), ("just words", None));
}

#[test]
fn own_words_without_html_of_their_own_look_the_same_as_html() {
    let template = own(None, "", "a < b\n{{ device_name }}", "");
    let words = MessageRenderer::default()
        .render(&notice(NotificationKind::Test), NotificationMethod::MailHtml, Some(&template))
        .unwrap();
    let html = words.html.unwrap();
    assert!(html.contains("a &lt; b\nShop &quot;front&quot; &lt;page&gt;"), "{html}");
}

#[test]
fn a_template_that_cannot_be_used_says_where_and_why() {
    for (template, part, reason) in [
        (own(None, "{{ a", "", ""), "subject", "not closed"),
        (own(None, "", "x\n{% set a = 1 %}", ""), "text", "line 2: `set` is not supported"),
        (own(None, "", "{% if a %}", ""), "text", "line 1"),
        (own(None, "", "{{ a|nope }}", ""), "text", "nope"),
        (own(None, "", "{{ reasons|safe }}", ""), "text", "safe"),
        (
            own(Some(NotificationMethod::MailHtml), "", "", "{% autoescape false %}"),
            "html",
            "`autoescape` is not supported",
        ),
        (
            own(Some(NotificationMethod::JsonPost), "", "{\"a\": \"{{ device_name }}\"}", ""),
            "text",
            "not valid JSON",
        ),
        (own(None, "", "{{ range(10) }}", ""), "text", "range"),
    ] {
        let faults = MessageRenderer::default().validate(&template);
        assert!(!faults.is_empty(), "{template:?}");
        assert!(faults.iter().all(|fault| fault.part == part), "{faults:?}");
        assert!(faults[0].reason.contains(reason), "{faults:?}");
    }
    let fine = own(
        None,
        "{{ title }}",
        "{% for at in locations %}{{ at.location|upper }}{% endfor %}",
        "<b>{{ url }}</b>",
    );
    assert_eq!(MessageRenderer::default().validate(&fine), []);
}

#[test]
fn work_and_length_are_bounded() {
    let mut content = notice(NotificationKind::SiteError);
    content.reasons = vec!["x".repeat(10_000); 500];
    let started = std::time::Instant::now();
    let nested = "{% for a in reasons %}".repeat(6) + "x" + &"{% endfor %}".repeat(6);
    let long = "{% for a in reasons %}{% for b in reasons %}{{ reasons|join }}{% endfor %}{% endfor %}";
    let wide = "{% for a in reasons %}{% for b in reasons %}{{ a ~ b ~ a ~ b }}{% endfor %}{% endfor %}";
    for (source, reason) in
        [(nested.as_str(), "too many steps"), (long, "too long"), (wide, "exceeds 262144 bytes")]
    {
        let fault = MessageRenderer::default()
            .render(&content, NotificationMethod::MailText, Some(&own(None, "", source, "")))
            .unwrap_err();
        assert!(fault.reason.contains(reason), "{fault}");
    }
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    // Values are cut, so that the built-in words never come to that.
    assert!(compose(&content, NotificationMethod::MailHtml).html.unwrap().len() < 256 * 1024);
}

#[test]
fn the_trace_and_the_content_views_that_failed_are_told() {
    let mut found = notice(NotificationKind::SiteError);
    found.extra.insert("trace_id".to_owned(), json!("0123456789abcdef0123456789abcdef"));
    let view =
        |id: &str, name: &str| json!({"id": id, "name": name, "status": "7007", "status_text": "HTTP error"});
    found.extra.insert("content_views".to_owned(), json!([view("4", "Pictures"), view("5", "")]));
    let words = compose(&found, NotificationMethod::MailHtml);
    for text in [&words.text, words.html.as_ref().unwrap()] {
        for wanted in ["0123456789abcdef0123456789abcdef", "Pictures: HTTP error", "5: HTTP error"] {
            assert!(text.contains(wanted), "{wanted} in {text}");
        }
    }
    let plain = compose(&notice(NotificationKind::SiteError), NotificationMethod::MailText);
    assert!(!plain.text.contains("Trace:") && !plain.text.contains("View:"), "{}", plain.text);
}
