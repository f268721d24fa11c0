//! The built-in templates: a subject for each kind, and bodies that omit absent values.

use crate::domain::{NotificationKind, NotificationMethod};
use crate::texts::{Locale, key};

/// Returns the built-in template `source` for messages of `kind`, with its texts in the language of `t`: those within `[[`
/// and `]]`. Labels, which end with a colon there, are filled up to a column in each paragraph.
pub(super) fn localized(source: &str, kind: NotificationKind, t: Locale) -> String {
    let source = source.replace("{{ title }}", t.text(kind.title()));
    let paragraphs: Vec<String> =
        source.split("\n\n").map(|paragraph| localized_paragraph(paragraph, t)).collect();
    paragraphs.join("\n\n")
}

fn localized_paragraph(source: &str, t: Locale) -> String {
    let label =
        |text: &str| text.strip_suffix(':').map(|name| t.fill("{label}:", &[("label", t.text(name))]));
    let widest = texts_of(source).filter_map(label).map(|label| label.chars().count()).max();
    let width = widest.unwrap_or_default() + 1;
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some((before, (text, after))) =
        rest.split_once("[[").and_then(|(before, rest)| Some((before, rest.split_once("]]")?)))
    {
        out.push_str(before);
        match label(text) {
            // A heading has nothing beside it.
            Some(label) if after.is_empty() || after.starts_with('\n') => out.push_str(&label),
            Some(label) => out.extend(label.chars().chain(std::iter::repeat(' ')).take(width)),
            None => out.push_str(t.text(text)),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Returns the texts within `[[` and `]]` in a template.
fn texts_of(source: &str) -> impl Iterator<Item = &str> {
    source.split("[[").skip(1).filter_map(|rest| rest.split_once("]]")).map(|(text, _)| text)
}

/// Returns the subject of `kind` (behaviour.md 6).
pub(super) const fn subject_template(kind: NotificationKind) -> &'static str {
    match kind {
        NotificationKind::SiteError | NotificationKind::HostagentError => {
            key("[{{ brand }}] Site/Device Alert (ST={{ status }}) - {{ device_name }} {{ status_text }}")
        }
        NotificationKind::SiteClear | NotificationKind::HostagentClear => {
            key("[{{ brand }}] Site/Device Clear (ST=0) - {{ device_name }} is up again")
        }
        NotificationKind::NoData => {
            key("[{{ brand }}] No Data - {{ device_name }} gave no result {{ errcount }} times")
        }
        NotificationKind::NoDataClear => {
            key("[{{ brand }}] No Data Clear - {{ device_name }} gives results again")
        }
        NotificationKind::PerformanceError => {
            key("[{{ brand }}] Performance Alert - {{ device_name }} {{ status_text }}")
        }
        NotificationKind::PerformanceClear => {
            key("[{{ brand }}] Performance Clear - {{ device_name }} {{ status_text }}")
        }
        NotificationKind::WebChange => key("[{{ brand }}] Web Change - {{ device_name }} {{ status_text }}"),
        NotificationKind::Traceroute => key("[{{ brand }}] Traceroute - {{ device_name }}"),
        NotificationKind::CertificateExpiration => {
            key("[{{ brand }}] SSL Certificate Expiration - {{ device_name }} {{ status_text }}")
        }
        NotificationKind::Test => key("[{{ brand }}] Test Alert"),
        NotificationKind::Digest => key("[{{ brand }}] {{ status_text }}"),
    }
}

/// Returns the plain text template of `method`.
pub(super) const fn text_template(method: NotificationMethod) -> &'static str {
    match method {
        NotificationMethod::Sms => SMS_TEMPLATE,
        _ => TEXT_TEMPLATE,
    }
}

/// Fits into three SMS parts.
const SMS_TEMPLATE: &str = concat!(
    "{{ brand }}: {{ title }}{% if device_name %} {{ device_name|truncate(80) }}{% endif %}",
    "{% if status != '0' %} (ST={{ status }}){% endif %} {{ status_text|truncate(160) }}",
    "{% if location %}, {{ location|truncate(40) }}{% endif %}, {{ timestamp }}",
);

const TEXT_TEMPLATE: &str = "\
{{ title }}{% if device_name %}: {{ device_name }}{% endif %}

{% if status_text %}
{{ status_text }}{% if status != '0' %} (ST={{ status }}){% endif %}

{% endif %}
{% if reasons %}

{% for reason in reasons %}
- {{ reason }}
{% endfor %}
{% endif %}
{% if alert_note %}

{{ alert_note }}
{% endif %}

[[Time:]]{{ timestamp }}
{% if duration %}
[[Since:]]{{ since }} ({{ duration }})
{% endif %}
{% if device_id %}
[[Monitor:]]{{ device_name }} ({{ device_type }}, {{ device_id }})
{% endif %}
{% if url %}
[[Target:]]{{ url }}
{% endif %}
{% if http_status %}
[[HTTP:]]{{ http_status }}
{% endif %}
{% if step_num %}
[[Step:]]{{ step_num }} {{ step_name }}
{% endif %}
{% for view in content_views %}
[[View:]]{{ view.name or view.id }}: {{ view.status_text }}
{% endfor %}
{% if trace_id %}
[[Trace:]]{{ trace_id }}
{% endif %}
{% if errcount != '0' and device_id %}
[[Failures:]][[{{ errcount }} in a row]]
{% endif %}
{% if location %}
[[Seen from:]]{{ location }}
{% endif %}
{% if verified %}
[[Verified:]]{{ verified }}
{% endif %}
{% for property in properties %}
{{ property.name }}: {{ property.value }}
{% endfor %}
{% if locations|length > 1 %}

[[Locations:]]
{% for at in locations %}
- {{ at.location }}: {% if at.status %}{{ at.status_text }} ({{ at.status }}){% else %}[[no result]]{% endif %}

{% endfor %}
{% endif %}
{% if phases %}

[[Phases:]]
{% for phase in phases %}
  {{ phase.bar }} {{ phase.label }} {{ phase.time }}
{% endfor %}
{% endif %}
{% if certificate %}

[[Certificate:]]{{ certificate.subject }}
[[Issuer:]]{{ certificate.issuer }}
[[Valid until:]]{{ certificate.not_after }}
{% endif %}
{% if traceroute %}

[[Traceroute:]]
{{ traceroute }}
{% endif %}
";

/// The HTML of mail. Styles are inline, since mail programs support no others.
pub(super) const HTML_TEMPLATE: &str = "<!DOCTYPE html>
<html><head><meta charset=\"utf-8\"></head>
<body style=\"margin:0;padding:16px;font:14px/1.5 sans-serif;color:#222\">
<table role=\"presentation\" cellpadding=\"0\" cellspacing=\"0\" style=\"max-width:640px;width:100%\">
<tr><td style=\"padding:12px 16px;color:#fff;background:{% if is_clear %}#1a7f37{% else %}#b42318{% endif %}\">
<b>{{ title }}</b>{% if device_name %}: {{ device_name }}{% endif %}

</td></tr>
<tr><td style=\"padding:12px 16px;border:1px solid #ddd\">
{% if status_text %}
<p><b>{{ status_text }}</b>{% if status != '0' %} (ST={{ status }}){% endif %}</p>
{% endif %}
{% if reasons %}
<ul>
{% for reason in reasons %}
<li>{{ reason }}</li>
{% endfor %}
</ul>
{% endif %}
{% if alert_note %}
<p style=\"padding:8px;background:#fff8c5;white-space:pre-wrap\">{{ alert_note }}</p>
{% endif %}
<table cellpadding=\"4\" cellspacing=\"0\">
<tr><th align=\"left\">[[Time]]</th><td>{{ timestamp }}</td></tr>
{% if duration %}
<tr><th align=\"left\">[[Since]]</th><td>{{ since }} ({{ duration }})</td></tr>
{% endif %}
{% if device_id %}
<tr><th align=\"left\">[[Monitor]]</th><td>{{ device_name }} ({{ device_type }}, {{ device_id }})</td></tr>
{% endif %}
{% if url %}
<tr><th align=\"left\">[[Target]]</th><td>{{ url }}</td></tr>
{% endif %}
{% if http_status %}
<tr><th align=\"left\">[[HTTP]]</th><td>{{ http_status }}</td></tr>
{% endif %}
{% if step_num %}
<tr><th align=\"left\">[[Step]]</th><td>{{ step_num }} {{ step_name }}</td></tr>
{% endif %}
{% for view in content_views %}
<tr><th align=\"left\">[[View]]</th><td>{{ view.name or view.id }}: {{ view.status_text }}</td></tr>
{% endfor %}
{% if trace_id %}
<tr><th align=\"left\">[[Trace]]</th><td>{{ trace_id }}</td></tr>
{% endif %}
{% if errcount != '0' and device_id %}
<tr><th align=\"left\">[[Failures]]</th><td>[[{{ errcount }} in a row]]</td></tr>
{% endif %}
{% if location %}
<tr><th align=\"left\">[[Seen from]]</th><td>{{ location }}</td></tr>
{% endif %}
{% if verified %}
<tr><th align=\"left\">[[Verified]]</th><td>{{ verified }}</td></tr>
{% endif %}
{% for property in properties %}
<tr><th align=\"left\">{{ property.name }}</th><td>{{ property.value }}</td></tr>
{% endfor %}
</table>
{% if locations|length > 1 %}
<h4>[[Locations]]</h4>
<ul>
{% for at in locations %}
<li>{{ at.location }}: {% if at.status %}{{ at.status_text }} ({{ at.status }}){% else %}[[no result]]{% endif %}</li>
{% endfor %}
</ul>
{% endif %}
{% if phases %}
<h4>[[Phases]]</h4>
<table cellpadding=\"2\" cellspacing=\"0\" width=\"100%\">
{% for phase in phases %}
<tr><td width=\"90\">{{ phase.label }}</td><td>\
<div style=\"height:12px;background:#0969da;width:{{ phase.percent }}%\"></div></td>\
<td width=\"80\" align=\"right\">{{ phase.time }}</td></tr>
{% endfor %}
</table>
{% endif %}
{% if certificate %}
<h4>[[Certificate]]</h4>
<p>{{ certificate.subject }}<br>[[issued by {{ certificate.issuer }}]]<br>[[valid until {{ certificate.not_after }}]]</p>
{% endif %}
{% if traceroute %}
<h4>[[Traceroute]]</h4>
<pre>{{ traceroute }}</pre>
{% endif %}
</td></tr></table>
</body></html>
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::{Language, is_known_text};

    #[test]
    fn every_text_of_the_templates_is_in_the_table() {
        for source in [TEXT_TEMPLATE, HTML_TEMPLATE] {
            for text in texts_of(source) {
                assert!(is_known_text(text.trim_end_matches(':')), "{text}");
            }
        }
        for (kind, ..) in NotificationKind::ALL {
            assert!(is_known_text(kind.title()), "{}", kind.title());
            let subject = subject_template(kind);
            assert!(is_known_text(subject), "{subject}");
            for language in Language::ALL {
                let t = Locale { language, ..Locale::default() };
                let values = |text: &str| text.matches("{{").count();
                assert_eq!(values(t.text(subject)), values(subject), "{subject}");
            }
        }
    }

    #[test]
    fn labels_stand_in_columns_in_every_language() {
        for language in Language::ALL {
            let t = Locale { language, ..Locale::default() };
            let text = localized("[[Time:]]x\n[[Seen from:]]x\n\n[[Phases]]", NotificationKind::Test, t);
            let columns: Vec<_> =
                text.lines().filter_map(|line| line.chars().position(|c| c == 'x')).collect();
            assert_eq!(columns.len(), 2, "{text}");
            assert_eq!(columns[0], columns[1], "{text}");
            assert!(text.ends_with(t.text("Phases")), "{text}");
        }
        let english = localized("[[Time:]]x\n[[Seen from:]]y", NotificationKind::Test, Locale::default());
        assert_eq!(english, "Time:      x\nSeen from: y");
        let french = Locale { language: Language::French, ..Locale::default() };
        assert_eq!(localized("[[Phases:]]\n", NotificationKind::Test, french), "Phases :\n");
    }
}
