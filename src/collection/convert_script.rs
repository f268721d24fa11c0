//! Reads the usual statements of test scripts as assertions and variables of steps.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

/// What a script is as assertions and variables.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ConvertedScript {
    pub(super) assertions: Vec<Value>,
    pub(super) variables: Vec<Value>,
    /// Statements that are neither, with the number of lines before them.
    pub(super) losses: Vec<(u32, String)>,
}

/// A form of statement, and what it becomes.
struct Form {
    pattern: Regex,
    kind: FormKind,
}

#[derive(Clone, Copy)]
enum FormKind {
    Alias,
    Status,
    Statuses,
    ResponseTime,
    Header,
    BodyContains,
    JsonEquals,
    SetVariable,
}

static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let json = r"(?P<path>[A-Za-z_$][\w$]*(?:\.json\(\))?(?:\.[A-Za-z_$][\w$]*|\[\d+\]|\[(?:'[^']+'|\x22[^\x22]+\x22)\])*)";
    let text = r#"(?P<value>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d+(?:\.\d+)?|true|false)"#;
    let equals = r"\.to\.(?:be\.)?(?:deep\.)?(?:eql|equal|equals|eq)";
    [
        (FormKind::Alias, r"^(?:const|let|var) (?P<name>[A-Za-z_$][\w$]*) = (?:pm\.response\.json\(\)|JSON\.parse\(responseBody\))$".to_owned()),
        (FormKind::Status, r"^pm\.response\.to\.have\.status\((?P<value>\d{3})\)$".to_owned()),
        (FormKind::Status, format!(r"^pm\.expect\(pm\.response\.code\){equals}\((?P<value>\d{{3}})\)$")),
        (FormKind::Status, r#"^tests\[["'][^"']*["']\] = responseCode\.code ={2,3} (?P<value>\d{3})$"#.to_owned()),
        (FormKind::Statuses, r"^pm\.expect\(pm\.response\.code\)\.to\.be\.oneOf\(\[(?P<value>[\d, ]+)\]\)$".to_owned()),
        (FormKind::ResponseTime, r"^pm\.expect\(pm\.response\.responseTime\)\.to\.be\.(?:below|lessThan|lt)\((?P<value>\d+)\)$".to_owned()),
        (FormKind::Header, r#"^pm\.response\.to\.have\.header\(["'](?P<value>[\w-]+)["']\)$"#.to_owned()),
        (FormKind::BodyContains, format!(r"^pm\.expect\(pm\.response\.text\(\)\)\.to\.include\({text}\)$")),
        (FormKind::JsonEquals, format!(r"^pm\.expect\({}\){equals}\({text}\)$", json.replacen("[A-Za-z_$][\\w$]*(?:\\.json\\(\\))?", r"(?:pm\.response\.json\(\)|[A-Za-z_$][\w$]*)", 1))),
        (FormKind::SetVariable, format!(r#"^pm\.(?:environment|collectionVariables|globals|variables)\.set\(["'](?P<name>[A-Za-z_]\w*)["'], {}\)$"#, json.replacen("[A-Za-z_$][\\w$]*(?:\\.json\\(\\))?", r"(?:pm\.response\.json\(\)|[A-Za-z_$][\w$]*)", 1))),
    ]
    .into_iter()
    .filter_map(|(kind, pattern)| Some(Form { pattern: Regex::new(&pattern).ok()?, kind }))
    .collect()
});

/// The heads and ends of tests, which say nothing by themselves.
static WRAPPER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"^(?:pm\.test\((?:"[^"]*"|'[^']*'|`[^`]*`), ?(?:async )?(?:function ?\w* ?\(\)|\(\) ?=>) ?\{|\}\)?|\{|)$"#).ok()
});

/// Converts the statements of `code`.
pub(super) fn convert_script(code: &str) -> ConvertedScript {
    let mut converted = ConvertedScript::default();
    let mut aliases: Vec<String> = Vec::new();
    for (line, statement) in statements(code) {
        if WRAPPER.as_ref().is_some_and(|wrapper| wrapper.is_match(&statement)) {
            continue;
        }
        if convert_statement(&statement, &mut aliases, &mut converted).is_none() {
            converted.losses.push((line, statement));
        }
    }
    converted
}

/// Splits code at semicolons, line ends and the braces of tests; with the number of lines before each.
fn statements(code: &str) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    let code = without_block_comments(code);
    for (line, text) in (0_u32..).zip(code.lines()) {
        let text = text.trim();
        if text.starts_with("//") {
            continue;
        }
        // `pm.test("a", () => { … });` on one line.
        let text = text.replace("=> {", "=> {\n").replace("() {", "() {\n").replace("});", "\n});\n");
        for part in text.lines() {
            let ends_with_brace = part.trim_end().ends_with('{');
            let parts: Vec<&str> = if ends_with_brace { vec![part] } else { part.split(';').collect() };
            for statement in parts.into_iter().map(str::trim).filter(|statement| !statement.is_empty()) {
                found.push((line, statement.split_whitespace().collect::<Vec<_>>().join(" ")));
            }
        }
    }
    found
}

/// Returns `code` without `/* … */`, line ends inside of them aside.
fn without_block_comments(code: &str) -> String {
    let mut out = String::new();
    let mut parts = code.split("/*");
    out.extend(parts.next());
    for part in parts {
        let (comment, rest) = part.split_once("*/").unwrap_or((part, ""));
        out.extend(comment.chars().filter(|c| *c == '\n'));
        out.push_str(rest);
    }
    out
}

fn convert_statement(
    statement: &str,
    aliases: &mut Vec<String>,
    converted: &mut ConvertedScript,
) -> Option<()> {
    let (form, groups) = FORMS.iter().find_map(|form| Some((form, form.pattern.captures(statement)?)))?;
    let group = |name: &str| groups.name(name).map(|found| found.as_str());
    let assertion = |source: &str, property: &str, comparison: &str, value: &str| json!({"source": source, "property": property, "comparison": comparison, "value": value});
    let found = match form.kind {
        FormKind::Alias => {
            aliases.push(group("name")?.to_owned());
            return Some(());
        }
        FormKind::SetVariable => {
            let property = json_path(group("path")?, aliases)?;
            converted
                .variables
                .push(json!({"name": group("name")?, "source": "JSON Response", "property": property}));
            return Some(());
        }
        FormKind::Status => assertion("Status Code", "", "equals", group("value")?),
        FormKind::Statuses => assertion("Status Code", "", "equals", &group("value")?.replace(' ', "")),
        FormKind::ResponseTime => {
            let millis: f64 = group("value")?.parse().ok()?;
            assertion("Timeout", "", "less than or equal", &(millis / 1000.0).to_string())
        }
        FormKind::Header => assertion("Header", group("value")?, "exists", "1"),
        FormKind::BodyContains => assertion("Response", "", "contains", &literal(group("value")?)),
        FormKind::JsonEquals => assertion(
            "JSON Response",
            &json_path(group("path")?, aliases)?,
            "equals",
            &literal(group("value")?),
        ),
    };
    converted.assertions.push(found);
    Some(())
}

/// Returns the JSONPath of an expression on the response; `None` for any other.
fn json_path(expression: &str, aliases: &[String]) -> Option<String> {
    let rest = expression.strip_prefix("pm.response.json()").or_else(|| {
        aliases.iter().find_map(|alias| {
            expression
                .strip_prefix(alias.as_str())
                .filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    })?;
    Some(format!("${rest}"))
}

/// Returns the value of a literal as text.
fn literal(text: &str) -> String {
    let Some(inner) = text.strip_prefix(['"', '\'']) else { return text.to_owned() };
    let inner = &inner[..inner.len() - 1];
    let mut out = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match (c, chars.clone().next()) {
            ('\\', Some('n')) => {
                out.push('\n');
                chars.next();
            }
            ('\\', Some(escaped)) => {
                out.push(escaped);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_statements_become_assertions_and_variables() {
        let code = "// checks\npm.test(\"ok\", function () {\n    pm.response.to.have.status(200);\n});\n\
                    const body = pm.response.json();\npm.test('time', () => { pm.expect(pm.response.responseTime).to.be.below(500); });\n\
                    pm.expect(body.a['b'][0]).to.eql(\"x\\\"y\");\npm.response.to.have.header('X-A')\n\
                    pm.environment.set('token', body.token);\npm.expect(pm.response.text()).to.include('z')\n\
                    pm.expect(pm.response.code).to.be.oneOf([200, 201]);";
        let converted = convert_script(code);
        assert_eq!(converted.losses, []);
        let shown: Vec<String> = converted
            .assertions
            .iter()
            .map(|a| {
                [&a["source"], &a["property"], &a["comparison"], &a["value"]]
                    .map(|v| v.as_str().unwrap())
                    .join("|")
            })
            .collect();
        assert_eq!(
            shown,
            [
                "Status Code||equals|200",
                "Timeout||less than or equal|0.5",
                "JSON Response|$.a['b'][0]|equals|x\"y",
                "Header|X-A|exists|1",
                "Response||contains|z",
                "Status Code||equals|200,201",
            ]
        );
        assert_eq!(
            converted.variables,
            [json!({"name": "token", "source": "JSON Response", "property": "$.token"})]
        );
    }

    #[test]
    fn everything_else_is_lost_with_its_line() {
        let converted =
            convert_script("pm.response.to.have.status(200);\nif (x) { y() }\npm.expect(other.a).to.eql(1)");
        assert_eq!(converted.assertions.len(), 1);
        let lines: Vec<u32> = converted.losses.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 2]);
    }
}
