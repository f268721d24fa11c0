//! Finds the objects of a style sheet: `@import`, fonts, and the `url()`s of its rules (CSS Syntax 3).

use std::sync::Arc;

use cssparser::{ParseError, Parser, Token};
use url::Url;

use super::media_query;
use super::object_queue::{FoundObject, PageObjectQueue, ScanContext};
use crate::domain::PageObjectKind;

/// Maximum depth of style sheets that import each other.
const MAX_IMPORT_DEPTH: u8 = 5;
/// Maximum depth of nested blocks and functions that are scanned.
const MAX_BLOCK_DEPTH: u8 = 32;

/// What the parser expects of the scan of a nested block, which never fails.
type NestedResult = Result<(), ParseError<()>>;

/// Adds the objects of the style sheet `found`, with the text `css` and the final `url`.
pub fn scan_css(css: &str, found: &FoundObject, url: &Url, queue: &mut PageObjectQueue) {
    if found.applies_to_screen {
        let referrer = Arc::new(url.clone());
        let context =
            ScanContext { referrer, frame_depth: found.frame_depth, import_depth: found.import_depth + 1 };
        scan_inline_css(css, url, &context, queue);
    }
}

/// Adds the objects of the CSS in a `style` element or attribute.
pub(super) fn scan_inline_css(css: &str, base_url: &Url, context: &ScanContext, queue: &mut PageObjectQueue) {
    let mut scanner = CssScanner { base_url, context, queue, rules_started: false };
    scanner.scan_block(&mut Parser::new(css), 0, true);
}

/// Adds the objects of CSS to the queue, token by token.
struct CssScanner<'a> {
    base_url: &'a Url,
    context: &'a ScanContext,
    queue: &'a mut PageObjectQueue,
    /// Whether rules have started: later `@import`s are invalid.
    rules_started: bool,
}

impl CssScanner<'_> {
    fn add_image(&mut self, reference: &str) {
        self.queue.add(self.base_url, reference, PageObjectKind::Image, self.context);
    }

    /// Scans the rest of a block.
    fn scan_block(&mut self, parser: &mut Parser<'_>, depth: u8, is_top_level: bool) {
        while let Ok(token) = parser.next().cloned() {
            match token {
                Token::AtKeyword(name) => {
                    self.scan_at_rule(&name, parser, depth, is_top_level);
                    self.rules_started |=
                        !matches!(&*name.to_ascii_lowercase(), "import" | "charset" | "layer");
                    continue;
                }
                Token::UnquotedUrl(url) => self.add_image(&url),
                Token::Function(name) if name.eq_ignore_ascii_case("url") => {
                    if let Some(url) = parse_string_argument(parser) {
                        self.add_image(&url);
                    }
                }
                Token::Function(name) if is_image_set(&name) => {
                    let mut first_image_url = None;
                    let _ = parser.parse_nested_block(|inner| -> NestedResult {
                        first_image_url = parse_first_url(inner);
                        Ok(())
                    });
                    if let Some(url) = first_image_url {
                        self.add_image(&url);
                    }
                }
                Token::Function(_)
                | Token::ParenthesisBlock
                | Token::CurlyBracketBlock
                | Token::SquareBracketBlock => self.scan_nested_block(parser, depth),
                _ => {}
            }
            self.rules_started |= is_top_level;
        }
    }

    fn scan_nested_block(&mut self, parser: &mut Parser<'_>, depth: u8) {
        if depth < MAX_BLOCK_DEPTH {
            let _ = parser.parse_nested_block(|inner| -> NestedResult {
                self.scan_block(inner, depth + 1, false);
                Ok(())
            });
        }
    }

    fn scan_at_rule(&mut self, name: &str, parser: &mut Parser<'_>, depth: u8, is_top_level: bool) {
        match name.to_ascii_lowercase().as_str() {
            "import" => {
                let url = parse_url(parser);
                let (conditions, _) = parse_prelude(parser);
                if let Some(url) = url.filter(|_| is_top_level && !self.rules_started) {
                    self.add_import(&url, &conditions);
                }
            }
            "media" => {
                let (query, has_block) = parse_prelude(parser);
                if has_block && media_query::matches_viewport(&query) {
                    self.scan_nested_block(parser, depth);
                }
            }
            "supports" => {
                let (condition, has_block) = parse_prelude(parser);
                // Browsers are assumed to support every condition.
                if has_block && !condition.trim().to_ascii_lowercase().starts_with("not") {
                    self.scan_nested_block(parser, depth);
                }
            }
            "font-face" => {
                if parse_prelude(parser).1 && depth < MAX_BLOCK_DEPTH {
                    let mut font_face = FontFace::default();
                    let _ = parser.parse_nested_block(|inner| -> NestedResult {
                        font_face.parse_declarations(inner);
                        Ok(())
                    });
                    if let Some(url) = font_face.source_url.filter(|_| !font_face.lacks_latin) {
                        self.queue.add(self.base_url, &url, PageObjectKind::Font, self.context);
                    }
                }
            }
            _ => {
                if parse_prelude(parser).1 {
                    self.scan_nested_block(parser, depth);
                }
            }
        }
    }

    /// Adds an imported style sheet; one that does not apply to the screen is loaded but not scanned.
    fn add_import(&mut self, url: &str, conditions: &str) {
        if self.context.import_depth >= MAX_IMPORT_DEPTH {
            self.queue.count_unlisted();
            return;
        }
        // `layer`, `layer(…)` and `supports(…)` come before the media.
        let mut media_text = conditions.trim();
        while media_text.get(..5).is_some_and(|head| head.eq_ignore_ascii_case("layer"))
            || media_text.get(..8).is_some_and(|head| head.eq_ignore_ascii_case("supports"))
        {
            let end = match media_text.find(['(', ' ']) {
                Some(position) if media_text[position..].starts_with('(') => {
                    media_text.find(')').map_or(media_text.len(), |end| end + 1)
                }
                Some(position) => position,
                None => media_text.len(),
            };
            media_text = media_text[end..].trim_start_matches([' ', ')']);
        }
        let applies_to_screen = media_query::matches_viewport(media_text);
        self.queue.add_with_media(
            self.base_url,
            url,
            PageObjectKind::StyleSheet,
            self.context,
            applies_to_screen,
        );
    }
}

/// Returns the text up to the block of an at-rule or its semicolon, and whether there is a block; the parser is then
/// after its opening bracket.
fn parse_prelude(parser: &mut Parser<'_>) -> (String, bool) {
    let start = parser.position();
    loop {
        let block_found = match parser.next() {
            Ok(Token::CurlyBracketBlock) => Some(true),
            Ok(Token::Semicolon) | Err(_) => Some(false),
            Ok(_) => None,
        };
        if let Some(has_block) = block_found {
            let text = parser.slice_from(start);
            return (text.strip_suffix(['{', ';']).unwrap_or(text).to_owned(), has_block);
        }
    }
}

fn is_image_set(name: &str) -> bool {
    name.eq_ignore_ascii_case("image-set") || name.eq_ignore_ascii_case("-webkit-image-set")
}

/// Parses the next URL, as `url(…)` or as a string.
fn parse_url(parser: &mut Parser<'_>) -> Option<String> {
    parser
        .try_parse(|parser| match parser.next().cloned() {
            Ok(Token::UnquotedUrl(url) | Token::QuotedString(url)) => Ok(url.to_string()),
            Ok(Token::Function(name)) if name.eq_ignore_ascii_case("url") => {
                parse_string_argument(parser).ok_or(())
            }
            _ => Err(()),
        })
        .ok()
}

/// Parses the string argument of the current function.
fn parse_string_argument(parser: &mut Parser<'_>) -> Option<String> {
    let mut string = None;
    let _ = parser.parse_nested_block(|inner| -> NestedResult {
        if let Ok(Token::QuotedString(text)) = inner.next() {
            string = Some(text.to_string());
        }
        Ok(())
    });
    string
}

fn parse_first_url(parser: &mut Parser<'_>) -> Option<String> {
    loop {
        if let Some(url) = parse_url(parser) {
            return Some(url);
        }
        parser.next().ok()?;
    }
}

/// A `@font-face` rule.
#[derive(Default)]
struct FontFace {
    /// The first supported source of the last `src`.
    source_url: Option<String>,
    /// Whether it lacks the basic Latin letters.
    lacks_latin: bool,
}

impl FontFace {
    fn parse_declarations(&mut self, parser: &mut Parser<'_>) {
        while let Ok(token) = parser.next().cloned() {
            let Token::Ident(name) = token else { continue };
            if !matches!(parser.next(), Ok(Token::Colon)) {
                continue;
            }
            let start = parser.position();
            match name.to_ascii_lowercase().as_str() {
                "src" => self.source_url = parse_font_src(parser).or(self.source_url.take()),
                "unicode-range" => {
                    while !matches!(parser.next(), Ok(Token::Semicolon) | Err(_)) {}
                    self.lacks_latin = !covers_basic_latin(parser.slice_from(start));
                }
                _ => while !matches!(parser.next(), Ok(Token::Semicolon) | Err(_)) {},
            }
        }
    }
}

/// Returns the first source up to the semicolon whose format browsers support.
fn parse_font_src(parser: &mut Parser<'_>) -> Option<String> {
    let mut supported_url = None;
    let mut current_url: Option<String> = None;
    loop {
        if let Some(url) = parse_url(parser) {
            current_url = Some(url);
            continue;
        }
        match parser.next().cloned() {
            Ok(Token::Function(name)) if name.eq_ignore_ascii_case("format") => {
                let mut format = String::new();
                let _ = parser.parse_nested_block(|inner| -> NestedResult {
                    if let Ok(Token::QuotedString(text) | Token::Ident(text)) = inner.next() {
                        format = text.to_ascii_lowercase();
                    }
                    Ok(())
                });
                if !["woff2", "woff", "truetype", "opentype", "collection"]
                    .iter()
                    .any(|f| format.starts_with(f))
                {
                    current_url = None;
                }
            }
            Ok(Token::Comma) => {
                supported_url = supported_url.or(current_url.take().filter(|url| is_supported_format(url)));
            }
            Ok(Token::Semicolon) | Err(_) => {
                return supported_url.or(current_url.filter(|url| is_supported_format(url)));
            }
            Ok(_) => {}
        }
    }
}

/// Whether browsers support the format, by the file name.
fn is_supported_format(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let suffix = path.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    !suffix.eq_ignore_ascii_case("eot") && !suffix.eq_ignore_ascii_case("svg")
}

/// Whether a `unicode-range` contains the letter `a`, and so the other letters.
fn covers_basic_latin(ranges: &str) -> bool {
    let letter_a = u32::from('a');
    ranges.trim_end_matches([';', '}']).split(',').any(|range| {
        let range = range.trim().to_ascii_lowercase();
        let Some(range) = range.strip_prefix("u+") else { return false };
        let parse_hex = |text: &str, wildcard_digit: &str| u32::from_str_radix(&text.replace('?', wildcard_digit), 16).ok();
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        matches!((parse_hex(from, "0"), parse_hex(to, "f")), (Some(from), Some(to)) if (from..=to).contains(&letter_a))
    })
}
