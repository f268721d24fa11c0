//! Templates: the output of the built-in ones, the limits of custom ones, and that no text of a target or a user
//! breaks out of its field.

use serde_json::{Value, json};
use vigie::domain::{NotificationContent, NotificationKind, NotificationMethod};
use vigie::notify::{AccountTemplate, MessageRenderer, RenderedMessage};
use vigie::texts::Language;

use super::samples::sample_content;

const HOSTILE: &str =
    "</td><script>alert('1')</script>\"'&{{ brand }}{% for %}\r\nBcc: eve@evil.test\r\n\u{0}\u{1b}[2J";

fn hostile(kind: NotificationKind) -> NotificationContent {
    let mut content = sample_content(kind);
    HOSTILE.clone_into(&mut content.monitor_name);
    HOSTILE.clone_into(&mut content.brand);
    HOSTILE.clone_into(&mut content.status_text);
    content.reasons = vec![HOSTILE.to_owned(); 3];
    HOSTILE.clone_into(&mut content.alert_note);
    content.target = format!("http://a.test/{HOSTILE}");
    HOSTILE.clone_into(&mut content.location_name);
    content.properties = vec![(HOSTILE.to_owned(), HOSTILE.to_owned())];
    content.failing_step = Some((1, HOSTILE.to_owned()));
    content.certificate = json!({"subject": HOSTILE, "issuer": HOSTILE, "not_after": HOSTILE});
    content.extra.insert("traceroute".to_owned(), json!(HOSTILE));
    content.extra.insert("trace_id".to_owned(), json!(HOSTILE));
    let view =
        json!({"id": "4", "name": HOSTILE, "status": "7", "status_text": HOSTILE, "reasons": [HOSTILE]});
    content.extra.insert("content_views".to_owned(), json!([view]));
    content
}

fn render(content: &NotificationContent, method: NotificationMethod) -> RenderedMessage {
    MessageRenderer::default().render(content, method, None).unwrap()
}

fn custom_template(
    method: Option<NotificationMethod>,
    subject: &str,
    text: &str,
    html: &str,
) -> AccountTemplate {
    AccountTemplate {
        kind: None,
        method,
        subject: subject.to_owned(),
        text: text.to_owned(),
        html: html.to_owned(),
    }
}

#[test]
fn the_subject_has_the_documented_format() {
    let rendered = render(&sample_content(NotificationKind::SiteError), NotificationMethod::MailHtml);
    assert_eq!(
        rendered.subject,
        "[Vigie] Site/Device Alert (ST=7) - Shop \"front\" <page> HTTP error status"
    );
    let rendered = render(&sample_content(NotificationKind::SiteClear), NotificationMethod::MailText);
    assert_eq!(rendered.subject, "[Vigie] Site/Device Clear (ST=0) - Shop \"front\" <page> is up again");
    assert!(rendered.html.is_none());
}

#[test]
fn the_built_in_text_contains_all_known_fields_and_no_others() {
    let rendered = render(&sample_content(NotificationKind::SiteError), NotificationMethod::MailText);
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
    assert_eq!(rendered.text, expected);
}

#[test]
fn every_kind_has_a_text_for_every_method() {
    for (kind, ..) in NotificationKind::ALL {
        for (method, ..) in NotificationMethod::ALL {
            let rendered = render(&sample_content(kind), method);
            assert!(!rendered.subject.is_empty() && !rendered.text.is_empty(), "{kind:?} {method:?}");
            assert_eq!(rendered.html.is_some(), method == NotificationMethod::MailHtml);
            assert!(!rendered.text.contains("{{") && !rendered.text.contains("\n\n\n"), "{}", rendered.text);
            if let Some(html) = rendered.html {
                assert!(html.starts_with("<!DOCTYPE html>") && html.trim_end().ends_with("</html>"));
            }
        }
    }
}

#[test]
fn nothing_hostile_breaks_out_of_html() {
    for (kind, ..) in NotificationKind::ALL {
        let html = render(&hostile(kind), NotificationMethod::MailHtml).html.unwrap();
        assert!(!html.contains("<script") && !html.contains("</td><script"), "{html}");
        // All tags come from the template.
        let tags = html.matches('<').count();
        let mut harmless = sample_content(kind);
        harmless.extra.insert("trace_id".to_owned(), json!("0123"));
        harmless.extra.insert(
            "content_views".to_owned(),
            json!([{"id": "4", "name": "Pictures", "status_text": "bad"}]),
        );
        let harmless = render(&harmless, NotificationMethod::MailHtml).html.unwrap();
        assert!(tags <= harmless.matches('<').count() + 30, "{tags}: {html}");
        assert!(!html.contains('\u{0}') && !html.contains('\u{1b}'));
        assert!(html.contains("{{ brand }}") || !html.contains("brand"), "values are no templates: {html}");
    }
}

#[test]
fn built_in_texts_speak_the_language_of_the_recipient_and_own_ones_stay() {
    let content = sample_content(NotificationKind::SiteClear);
    for (language, subject, label) in [
        (Language::English, "is up again", "Time:      "),
        (Language::German, "ist wieder erreichbar", "Zeit: "),
        (Language::French, "est de nouveau disponible", "Heure : "),
    ] {
        let renderer = MessageRenderer::default().in_language(language);
        let rendered = renderer.render(&content, NotificationMethod::MailHtml, None).unwrap();
        assert!(rendered.subject.ends_with(subject), "{}", rendered.subject);
        assert!(rendered.text.contains(&format!("\n{label}")), "{}", rendered.text);
        let html = rendered.html.unwrap();
        assert!(!html.contains("[[") && !rendered.text.contains("[["), "{html}");
        assert_eq!(html.contains("<th align=\"left\">Time</th>"), language == Language::English, "{html}");
        let own = custom_template(None, "{{ title }}: {{ device_name }}", "Time: {{ timestamp }}", "");
        let rendered = renderer.render(&content, NotificationMethod::MailText, Some(&own)).unwrap();
        assert!(rendered.subject.starts_with("Site Clear: "), "{}", rendered.subject);
        assert!(rendered.text.starts_with("Time: "), "{}", rendered.text);
    }
}

#[test]
fn phases_have_their_names_in_the_language_of_the_recipient() {
    let mut content = sample_content(NotificationKind::SiteError);
    content.phases = vec![("tls".to_owned(), 5_000), ("first_byte".to_owned(), 80_000)];
    let own = custom_template(
        None,
        "",
        "{% for phase in phases %}{{ phase.name }}/{{ phase.label }} {% endfor %}",
        "",
    );
    for (language, tls, first_byte) in [
        (Language::English, "tls", "first byte"),
        (Language::German, "TLS", "erstes Byte"),
        (Language::French, "TLS", "premier octet"),
    ] {
        let renderer = MessageRenderer::default().in_language(language);
        let rendered = renderer.render(&content, NotificationMethod::MailHtml, None).unwrap();
        for text in [rendered.text, rendered.html.unwrap()] {
            assert!(text.contains(tls) && text.contains(first_byte), "{text}");
        }
        let rendered = renderer.render(&content, NotificationMethod::MailText, Some(&own)).unwrap();
        assert_eq!(rendered.text.trim(), format!("tls/{tls} first byte/{first_byte}"));
    }
}

#[test]
fn nothing_hostile_adds_a_line_to_a_subject() {
    for (kind, ..) in NotificationKind::ALL {
        for template in
            [None, Some(custom_template(None, "{{ device_name }}\r\nX: {{ alert_note }}\n", "", ""))]
        {
            let rendered = MessageRenderer::default()
                .render(&hostile(kind), NotificationMethod::MailHtml, template.as_ref())
                .unwrap();
            assert!(!rendered.subject.contains(char::is_control), "{:?}", rendered.subject);
            assert!(rendered.subject.chars().count() <= 250);
        }
    }
}

#[test]
fn a_custom_json_body_stays_valid_whatever_its_values() {
    let template = custom_template(
        Some(NotificationMethod::JsonPost),
        "",
        "{\"name\": {{ device_name }}, \"why\": {{ reasons }}, \"n\": {{ errcount }}, \"up\": {{ is_clear }}}",
        "",
    );
    let rendered = MessageRenderer::default()
        .render(&hostile(NotificationKind::SiteError), NotificationMethod::JsonPost, Some(&template))
        .unwrap();
    let body: Value = serde_json::from_str(rendered.json_body.as_deref().unwrap()).unwrap();
    assert!(body["name"].as_str().unwrap().starts_with("</td><script>alert('1')"), "{body}");
    assert_eq!(body["why"].as_array().unwrap().len(), 3);
    assert_eq!((&body["n"], &body["up"]), (&json!("3"), &json!(false)));
    assert_eq!(body.as_object().unwrap().len(), 4);
    // For this method, a template for any method sets the text and not the body.
    let any = custom_template(None, "", "just words", "");
    let rendered = MessageRenderer::default()
        .render(&sample_content(NotificationKind::Test), NotificationMethod::JsonPost, Some(&any))
        .unwrap();
    assert_eq!((rendered.text.as_str(), rendered.json_body), ("just words", None));
}

#[test]
fn a_custom_text_without_html_is_rendered_as_html_too() {
    let template = custom_template(None, "", "a < b\n{{ device_name }}", "");
    let rendered = MessageRenderer::default()
        .render(&sample_content(NotificationKind::Test), NotificationMethod::MailHtml, Some(&template))
        .unwrap();
    let html = rendered.html.unwrap();
    assert!(html.contains("a &lt; b\nShop &quot;front&quot; &lt;page&gt;"), "{html}");
}

#[test]
fn an_invalid_template_is_reported_with_part_and_reason() {
    for (template, part, reason) in [
        (custom_template(None, "{{ a", "", ""), "subject", "not closed"),
        (custom_template(None, "", "x\n{% set a = 1 %}", ""), "text", "line 2: `set` is not supported"),
        (custom_template(None, "", "{% if a %}", ""), "text", "line 1"),
        (custom_template(None, "", "{{ a|nope }}", ""), "text", "nope"),
        (custom_template(None, "", "{{ reasons|safe }}", ""), "text", "safe"),
        (
            custom_template(Some(NotificationMethod::MailHtml), "", "", "{% autoescape false %}"),
            "html",
            "`autoescape` is not supported",
        ),
        (
            custom_template(Some(NotificationMethod::JsonPost), "", "{\"a\": \"{{ device_name }}\"}", ""),
            "text",
            "not valid JSON",
        ),
        (custom_template(None, "", "{{ range(10) }}", ""), "text", "range"),
    ] {
        let errors = MessageRenderer::default().template_errors(&template);
        assert!(!errors.is_empty(), "{template:?}");
        assert!(errors.iter().all(|error| error.part == part), "{errors:?}");
        assert!(errors[0].reason.contains(reason), "{errors:?}");
    }
    let valid = custom_template(
        None,
        "{{ title }}",
        "{% for at in locations %}{{ at.location|upper }}{% endfor %}",
        "<b>{{ url }}</b>",
    );
    assert_eq!(MessageRenderer::default().template_errors(&valid), []);
}

#[test]
fn rendering_time_and_length_are_bounded() {
    let mut content = sample_content(NotificationKind::SiteError);
    content.reasons = vec!["x".repeat(10_000); 500];
    let started = std::time::Instant::now();
    let nested = "{% for a in reasons %}".repeat(6) + "x" + &"{% endfor %}".repeat(6);
    let long = "{% for a in reasons %}{% for b in reasons %}{{ reasons|join }}{% endfor %}{% endfor %}";
    let wide = "{% for a in reasons %}{% for b in reasons %}{{ a ~ b ~ a ~ b }}{% endfor %}{% endfor %}";
    for (source, reason) in
        [(nested.as_str(), "too many steps"), (long, "too long"), (wide, "exceeds 262144 bytes")]
    {
        let error = MessageRenderer::default()
            .render(&content, NotificationMethod::MailText, Some(&custom_template(None, "", source, "")))
            .unwrap_err();
        assert!(error.reason.contains(reason), "{error}");
    }
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    // Values are cut, so that the built-in templates never reach these limits.
    assert!(render(&content, NotificationMethod::MailHtml).html.unwrap().len() < 256 * 1024);
}

#[test]
fn trace_id_and_failed_content_views_are_rendered() {
    let mut found = sample_content(NotificationKind::SiteError);
    found.extra.insert("trace_id".to_owned(), json!("0123456789abcdef0123456789abcdef"));
    let view =
        |id: &str, name: &str| json!({"id": id, "name": name, "status": "7007", "status_text": "HTTP error"});
    found.extra.insert("content_views".to_owned(), json!([view("4", "Pictures"), view("5", "")]));
    let rendered = render(&found, NotificationMethod::MailHtml);
    for text in [&rendered.text, rendered.html.as_ref().unwrap()] {
        for expected in ["0123456789abcdef0123456789abcdef", "Pictures: HTTP error", "5: HTTP error"] {
            assert!(text.contains(expected), "{expected} in {text}");
        }
    }
    let plain = render(&sample_content(NotificationKind::SiteError), NotificationMethod::MailText);
    assert!(!plain.text.contains("Trace:") && !plain.text.contains("View:"), "{}", plain.text);
}
