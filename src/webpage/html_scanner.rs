//! Finds the objects of an HTML document by its tags, without building a tree.

use std::convert::Infallible;
use std::sync::Arc;

use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use url::Url;

use super::error_skipping_emitter::ErrorSkippingEmitter;
use super::object_queue::{PageObjectQueue, ScanContext};
use super::{css_scanner, media_query};
use crate::domain::{PageObjectKind, from_utf8_lossy};

/// Maximum depth of nested `srcdoc` documents that are scanned.
pub(super) const MAX_SRCDOC_DEPTH: u8 = 2;

/// Adds the objects of the document `html` with the final `url`; `frame_depth` is 0 for the page itself.
pub fn scan_html(html: &str, url: &Url, frame_depth: u8, queue: &mut PageObjectQueue) {
    scan_document(html, url, frame_depth, 0, queue);
}

/// Like [`scan_html`], for a document within `srcdoc_depth` nested `srcdoc`s.
pub(super) fn scan_document(
    html: &str,
    url: &Url,
    frame_depth: u8,
    srcdoc_depth: u8,
    queue: &mut PageObjectQueue,
) {
    let mut scanner = HtmlScanner::new(url, frame_depth, srcdoc_depth, queue);
    let mut emitter = CallbackEmitter::new(&mut scanner);
    emitter.naively_switch_states(true);
    // The events do all the work; the tokenizer returns nothing.
    let _ = Tokenizer::new_with_emitter(html, ErrorSkippingEmitter(emitter)).next();
    scanner.finish();
}

/// The attributes that are read; others are ignored.
const RELEVANT_ATTRIBUTES: [&str; 22] = [
    "as",
    "autoplay",
    "background",
    "data",
    "default",
    "disabled",
    "href",
    "imagesizes",
    "imagesrcset",
    "media",
    "nomodule",
    "poster",
    "preload",
    "rel",
    "sizes",
    "src",
    "srcdoc",
    "srcset",
    "style",
    "type",
    "xlink:href",
    "language",
];

/// Adds the objects of a document to the queue, tag by tag.
pub(super) struct HtmlScanner<'a> {
    pub(super) queue: &'a mut PageObjectQueue,
    /// The URL that references are relative to.
    pub(super) base_url: Url,
    /// Whether a `base` element with an `href` was found; later ones are ignored.
    pub(super) has_base: bool,
    pub(super) context: ScanContext,
    pub(super) srcdoc_depth: u8,
    /// The current tag, and its attributes: the first of each name counts.
    tag_name: Vec<u8>,
    attributes: Vec<(&'static str, String)>,
    /// Index of the attribute whose value follows; `None` for one that is not read.
    current_attribute: Option<usize>,
    /// Number of open `template`s.
    open_templates: u32,
    /// Whether a `noscript` or `noframes` is open.
    in_noscript: bool,
    /// While a `style` is open: whether it applies to the screen.
    open_style_applies: Option<bool>,
    pub(super) picture_state: PictureState,
    pub(super) media_state: MediaElementState,
    /// The icon that the document named last.
    pub(super) icon_url: Option<String>,
}

/// The position relative to a `picture`.
pub(super) enum PictureState {
    Outside,
    /// Inside, with the choice of a `source` so far.
    Inside(Option<String>),
}

/// The position relative to an `audio` or `video`.
#[derive(PartialEq)]
pub(super) enum MediaElementState {
    Outside,
    /// No source was found yet.
    NeedsSource,
    NoSourceNeeded,
}

impl Callback<Infallible, ()> for &mut HtmlScanner<'_> {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<Infallible> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag_name.clear();
                self.tag_name.extend_from_slice(name);
                self.attributes.clear();
                self.current_attribute = None;
            }
            CallbackEvent::AttributeName { name } => self.current_attribute = self.start_attribute(name),
            CallbackEvent::AttributeValue { value } => {
                if let Some((_, text)) =
                    self.current_attribute.and_then(|index| self.attributes.get_mut(index))
                {
                    text.push_str(&from_utf8_lossy(value));
                }
            }
            CallbackEvent::CloseStartTag { .. } => self.on_start_tag(),
            CallbackEvent::EndTag { name } => self.on_end_tag(name),
            CallbackEvent::String { value }
                if self.open_style_applies == Some(true) && !self.is_in_ignored_element() =>
            {
                let css = from_utf8_lossy(value);
                css_scanner::scan_inline_css(&css, &self.base_url, &self.context, self.queue);
            }
            _ => {}
        }
        None
    }
}

impl<'a> HtmlScanner<'a> {
    fn new(url: &Url, frame_depth: u8, srcdoc_depth: u8, queue: &'a mut PageObjectQueue) -> Self {
        let context = ScanContext { referrer: Arc::new(url.clone()), frame_depth, import_depth: 0 };
        Self {
            queue,
            base_url: url.clone(),
            has_base: false,
            context,
            srcdoc_depth,
            tag_name: Vec::new(),
            attributes: Vec::new(),
            current_attribute: None,
            open_templates: 0,
            in_noscript: false,
            open_style_applies: None,
            picture_state: PictureState::Outside,
            media_state: MediaElementState::Outside,
            icon_url: None,
        }
    }

    /// Adds an attribute; returns its index, `None` when it is not relevant or a repeat.
    fn start_attribute(&mut self, name: &[u8]) -> Option<usize> {
        let name = RELEVANT_ATTRIBUTES.into_iter().find(|known| known.as_bytes() == name)?;
        if self.attributes.iter().any(|(known_name, _)| *known_name == name) {
            return None;
        }
        self.attributes.push((name, String::new()));
        Some(self.attributes.len() - 1)
    }

    fn is_in_ignored_element(&self) -> bool {
        self.open_templates > 0 || self.in_noscript
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known_name, _)| *known_name == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn add_attribute_url(&mut self, attribute: &str, kind: PageObjectKind) {
        if let Some((_, reference)) = self.attributes.iter().find(|(known_name, _)| *known_name == attribute)
        {
            self.queue.add(&self.base_url, reference, kind, &self.context);
        }
    }

    fn on_start_tag(&mut self) {
        let tag_name = std::mem::take(&mut self.tag_name);
        match tag_name.as_slice() {
            b"template" => self.open_templates += 1,
            b"noscript" | b"noframes" => self.in_noscript = true,
            b"style" => {
                self.open_style_applies =
                    Some(media_query::matches_viewport(self.attribute("media").unwrap_or_default()));
            }
            _ => {}
        }
        if !self.is_in_ignored_element() {
            self.on_element(&tag_name);
            if let Some((_, style)) = self.attributes.iter().find(|(known_name, _)| *known_name == "style")
                && style.contains('(')
            {
                css_scanner::scan_inline_css(style, &self.base_url, &self.context, self.queue);
            }
        }
        self.tag_name = tag_name;
    }

    fn on_end_tag(&mut self, name: &[u8]) {
        match name {
            b"template" => self.open_templates = self.open_templates.saturating_sub(1),
            b"noscript" | b"noframes" => self.in_noscript = false,
            b"style" => self.open_style_applies = None,
            b"picture" => self.picture_state = PictureState::Outside,
            b"audio" | b"video" => self.media_state = MediaElementState::Outside,
            _ => {}
        }
    }
}
