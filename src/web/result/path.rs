//! The path to the target, as a table of its hops.

use std::fmt::Write;

use crate::texts::{Locale, key};
use crate::web::html::{escape, render_table_head};

/// What stands for a probe without a reply.
const NO_REPLY: &str = "*";

/// A hop: who answered, each with the times of its replies.
struct Hop<'a> {
    number: &'a str,
    senders: Vec<(&'a str, Vec<&'a str>)>,
}

/// Renders the text of a traceroute. Its first line and those after the hops are sentences; a text of another form is
/// shown as it is. Writing into a string cannot fail.
pub(super) fn render_path(out: &mut String, text: &str, t: Locale) {
    let hops: Vec<_> = text.lines().filter_map(parse_hop).collect();
    let _ = write!(out, "<h2>{}</h2>", t.text("Path to the target"));
    if hops.is_empty() {
        let _ = write!(out, r#"<pre class="record" tabindex="0">{}</pre>"#, escape(text));
        return;
    }
    let sentences = text.lines().filter(|line| parse_hop(line).is_none() && !line.trim().is_empty());
    let sentences: Vec<_> = sentences.map(escape).collect();
    let _ = write!(out, "<p>{}</p>", sentences.join("<br>"));
    let heads = [("n", key("Hop")), ("", key("Answered by")), ("", key("Answered after"))];
    out.push_str(&render_table_head(&heads, t));
    for hop in &hops {
        let addresses: Vec<_> = hop.senders.iter().map(|(address, _)| escape(t.text(address))).collect();
        let times: Vec<_> =
            hop.senders.iter().map(|(_, times)| escape(&times.join(", ")).into_owned()).collect();
        let _ = write!(
            out,
            r#"<tr><td class="n">{}</td><td>{}</td><td class="reason" data-h="{}">{}</td></tr>"#,
            hop.number,
            addresses.join("<br>"),
            t.text("after"),
            times.join("<br>")
        );
    }
    out.push_str("</tbody></table></div>");
}

/// Parses ` 2  192.0.2.2  20.00 ms  *`; `None` for another line.
fn parse_hop(line: &str) -> Option<Hop<'_>> {
    let (number, replies) = line.trim().split_once("  ")?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut senders: Vec<(&str, Vec<&str>)> = Vec::new();
    for part in replies.split("  ").map(str::trim).filter(|part| !part.is_empty()) {
        match senders.last_mut() {
            _ if part == NO_REPLY => {}
            Some((_, times)) if part.contains(" ms") => times.push(part),
            _ => senders.push((part, Vec::new())),
        }
    }
    if senders.is_empty() {
        senders.push((key("no reply"), Vec::new()));
    }
    Some(Hop { number, senders })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hops_are_rows_and_other_lines_are_sentences() {
        let text = "traceroute to shop.test (198.51.100.7) over UDP\n  1  192.0.2.1  0.51 ms  1.49 ms\n  \
                    2  192.0.2.2  20.00 ms  192.0.2.3  10.01 ms\n  3  *  *\n  \
                    4  *  192.0.2.9  33.33 ms (host <unreachable>)\nit ended (4 hops)\n";
        let mut html = String::new();
        render_path(&mut html, text, Locale::default());
        for part in [
            "<p>traceroute to shop.test (198.51.100.7) over UDP<br>it ended (4 hops)</p>",
            r#"<td class="n">1</td><td>192.0.2.1</td><td class="reason" data-h="after">0.51 ms, 1.49 ms</td>"#,
            r#"<td>192.0.2.2<br>192.0.2.3</td><td class="reason" data-h="after">20.00 ms<br>10.01 ms</td>"#,
            r#"<td class="n">3</td><td>no reply</td>"#,
            "33.33 ms (host &lt;unreachable&gt;)",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn a_text_of_another_form_stays_as_it_is() {
        let mut html = String::new();
        render_path(&mut html, "traceroute to <b>: no permission\n", Locale::default());
        assert!(html.contains("<pre") && html.contains("to &lt;b&gt;: no permission"), "{html}");
    }
}
