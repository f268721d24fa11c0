//! Restricts templates to values, filters, `if` and `for`. Everything that could exhaust memory or turn off escaping
//! is refused before the engine parses it: assignments (doubling a text thirty times gives a gigabyte with hardly any
//! work), repetition, macros, `raw`, `autoescape`.

/// Most bytes of a template.
const MAX_TEMPLATE_BYTES: usize = 64 * 1024;
/// The supported statements.
const ALLOWED_STATEMENTS: [&str; 6] = ["if", "elif", "else", "endif", "for", "endfor"];
/// Most concatenations with `~` in one template.
const MAX_CONCATENATIONS: usize = 50;

/// Checks `source`; the error is the reason for which it is rejected, with the line.
pub(super) fn check_template(source: &str) -> Result<(), String> {
    if source.len() > MAX_TEMPLATE_BYTES {
        return Err(format!("it has more than {MAX_TEMPLATE_BYTES} bytes"));
    }
    let mut position = 0;
    let mut concatenations = 0;
    while let Some(brace_at) = source[position..].find('{').map(|brace_at| position + brace_at) {
        let error_at_line = |reason: String| {
            let line = source[..brace_at].matches('\n').count() + 1;
            Err(format!("line {line}: {reason}"))
        };
        let rest = &source[brace_at..];
        position = if rest.starts_with("{#") {
            match rest.find("#}") {
                Some(end) => brace_at + end + 2,
                None => return error_at_line("a comment does not end".to_owned()),
            }
        } else if rest.starts_with("{{") || rest.starts_with("{%") {
            match check_tag(rest, &mut concatenations) {
                Ok(length) => brace_at + length,
                Err(reason) => return error_at_line(reason),
            }
        } else {
            brace_at + 1
        };
        if concatenations > MAX_CONCATENATIONS {
            return error_at_line(format!("more than {MAX_CONCATENATIONS} concatenations with `~`"));
        }
    }
    Ok(())
}

/// Checks the tag that `text` begins with, and adds its `~` to `concatenations`. Returns its length in bytes.
fn check_tag(text: &str, concatenations: &mut usize) -> Result<usize, String> {
    let is_statement = text.starts_with("{%");
    let closing_delimiter = if is_statement { "%}" } else { "}}" };
    let mut quote: Option<char> = None;
    let mut is_escaped = false;
    let after_delimiter = |(index, character): (usize, char)| (index + 2, character);
    let mut length = None;
    for (index, character) in text[2..].char_indices().map(after_delimiter) {
        if let Some(opening_quote) = quote {
            (quote, is_escaped) = match character {
                _ if is_escaped => (quote, false),
                '\\' => (quote, true),
                other if other == opening_quote => (None, false),
                _ => (quote, false),
            };
            continue;
        }
        if text[index..].starts_with(closing_delimiter) {
            length = Some(index + 2);
            break;
        }
        match character {
            '"' | '\'' => quote = Some(character),
            '{' | '}' => return Err("maps are not supported in templates".to_owned()),
            '*' | '+' => return Err(format!("`{character}` is not supported in templates")),
            '~' => *concatenations += 1,
            _ => {}
        }
    }
    let length = length.ok_or_else(|| format!("`{}` is not closed by `{closing_delimiter}`", &text[..2]))?;
    if is_statement {
        let mut tokens = text[2..length - 2].trim_start_matches('-').split_whitespace();
        let keyword = tokens.next().unwrap_or_default().trim_end_matches('-');
        if !ALLOWED_STATEMENTS.contains(&keyword) {
            return Err(format!("`{keyword}` is not supported in templates; use `if` and `for`"));
        }
        if tokens.any(|keyword| keyword.trim_end_matches('-') == "recursive") {
            return Err("recursive loops are not supported in templates".to_owned());
        }
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_templates_pass() {
        for source in [
            "",
            "no tags, *** and + and { braces } { { and } }",
            "{{ device_name }} {{- status -}} {# {{ a * b }} #}",
            "{% if a == '*' %}{{ \"a + b }} {% set\" }}{% elif b %}x{% else %}y{% endif %}",
            "{%- for location in rotated_locations -%}{{ location.name|upper }}{%- endfor -%}",
            "{{ 'it\\'s * not' ~ x }}",
        ] {
            assert_eq!(check_template(source), Ok(()), "{source}");
        }
    }

    #[test]
    fn statements_that_exhaust_memory_or_disable_escaping_are_refused_with_their_line() {
        for (source, reason) in [
            ("a\n{% set x = 1 %}", "line 2: `set` is not supported"),
            ("{% macro a() %}{% endmacro %}", "`macro` is not supported"),
            ("{%-autoescape false%}{%endautoescape%}", "`autoescape` is not supported"),
            ("{% raw %}{{ ' {% endraw %}{{ 'x' * 9 }}", "`raw` is not supported"),
            ("{% include 'a' %}", "`include` is not supported"),
            ("{% with a = b %}{% endwith %}", "`with` is not supported"),
            ("{% filter upper %}{% endfilter %}", "`filter` is not supported"),
            ("{% for a in b recursive %}{% endfor %}", "recursive loops are not supported"),
            ("{% for a in b recursive-%}{% endfor %}", "recursive loops are not supported"),
            ("{{ 'x' * 100000000 }}", "`*` is not supported"),
            ("{{ {'a': {}} }}", "maps are not supported"),
            ("{{ 'a }}", "not closed"),
            ("{{ a", "not closed"),
            ("{# {{ ", "does not end"),
            (&"x".repeat(MAX_TEMPLATE_BYTES + 1), "more than"),
            (&format!("{{{{ a {} }}}}", "~ a ".repeat(60)), "with `~`"),
        ] {
            let refused = check_template(source).unwrap_err();
            assert!(refused.contains(reason), "{source}: {refused}");
        }
    }
}
