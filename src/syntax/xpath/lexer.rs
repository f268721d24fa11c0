//! The tokens of an XPath expression (XPath 1.0, 3.7).

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// `(`, `)`, `[`, `]`, `.`, `..`, `@`, `,`, `::`
    Punctuation(&'static str),
    /// An operator, including `*` and operator names where they are operators.
    Operator(&'static str),
    /// A number.
    Number(f64),
    /// A quoted string.
    Literal(Box<str>),
    /// A name without prefix.
    Name(Box<str>),
    /// `prefix:name`
    PrefixedName(Box<str>, Box<str>),
    /// `*` as a name.
    Wildcard,
    /// `prefix:*`
    PrefixWildcard(Box<str>),
}

const PUNCTUATION: [&str; 8] = ["::", "..", "(", ")", "[", "]", "@", ","];
const OPERATORS: [&str; 12] = ["//", "!=", "<=", ">=", "/", "|", "+", "-", "=", "<", ">", "*"];
const NAMED_OPERATORS: [&str; 4] = ["and", "or", "mod", "div"];

/// Splits `text` into tokens.
pub(super) fn tokenize(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let Some(first) = rest.chars().next() else { return Ok(tokens) };
        // After an operand, `*` and operator names are operators.
        let after_operand = !matches!(
            tokens.last(),
            None | Some(Token::Operator(_) | Token::Punctuation("@" | "::" | "(" | "[" | ","))
        );
        let (token, length) = match first {
            '"' | '\'' => lex_literal(rest, first)?,
            '0'..='9' => lex_number(rest)?,
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => lex_number(rest)?,
            _ if is_name_start(first) => lex_name(rest, after_operand),
            '*' if !after_operand => (Token::Wildcard, 1),
            '$' => return Err("variables are not known in an XPath".to_owned()),
            _ => lex_punctuation(rest).ok_or_else(|| format!("`{first}` is not understood"))?,
        };
        tokens.push(token);
        rest = &rest[length..];
    }
}

fn lex_literal(rest: &str, quote: char) -> Result<(Token, usize), String> {
    let end = rest[1..].find(quote).ok_or("a text has no closing quote")?;
    Ok((Token::Literal(rest[1..=end].into()), end + 2))
}

fn lex_number(rest: &str) -> Result<(Token, usize), String> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let integer_digits = digits(rest);
    let decimals = rest[integer_digits..].strip_prefix('.').map(digits);
    let end = integer_digits + decimals.map_or(0, |decimals| 1 + decimals);
    let number = rest[..end].parse().map_err(|_| format!("`{}` is not a number", &rest[..end]))?;
    Ok((Token::Number(number), end))
}

fn lex_name(rest: &str, after_operand: bool) -> (Token, usize) {
    let end = name_length(rest);
    let name = &rest[..end];
    if after_operand && let Some(operator) = NAMED_OPERATORS.into_iter().find(|operator| *operator == name) {
        return (Token::Operator(operator), end);
    }
    let after = &rest[end..];
    match after.strip_prefix(':').and_then(|after| after.chars().next()) {
        Some('*') => (Token::PrefixWildcard(name.into()), end + 2),
        Some(first) if is_name_start(first) => {
            let local = &after[1..=name_length(&after[1..])];
            (Token::PrefixedName(name.into(), local.into()), end + 1 + local.len())
        }
        _ => (Token::Name(name.into()), end),
    }
}

fn lex_punctuation(rest: &str) -> Option<(Token, usize)> {
    if let Some(operator) = OPERATORS.into_iter().find(|operator| rest.starts_with(operator)) {
        return Some((Token::Operator(operator), operator.len()));
    }
    if let Some(mark) = PUNCTUATION.into_iter().find(|mark| rest.starts_with(mark)) {
        return Some((Token::Punctuation(mark), mark.len()));
    }
    rest.starts_with('.').then_some((Token::Punctuation("."), 1))
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

/// Returns the length in bytes of the name at the start of `text`; its first character must begin a name.
fn name_length(text: &str) -> usize {
    let outside = |c: char| !(is_name_start(c) || c.is_ascii_digit() || c == '-' || c == '.');
    text.find(outside).unwrap_or(text.len())
}
