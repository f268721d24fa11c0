//! Finds the objects of an HTML document by its tags, without building a tree.

use std::convert::Infallible;
use std::sync::Arc;

use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use url::Url;

use super::object_queue::{PageObjectQueue, ScanContext};
use super::silent_emitter::SilentEmitter;
use super::{css_scanner, media_query};
use crate::domain::{PageObjectKind, from_utf8_lossy};

/// Maximum depth of nested `srcdoc` documents that are scanned.
pub(super) const MAX_SRCDOC_DEPTH: u8 = 2;

/// Adds the objects of the document `html` with the final `url`; `frame_depth` is 0 for the page itself.
pub fn scan_html(html: &str, url: &Url, frames: u8, queue: &mut PageObjectQueue) {
    scan_document(html, url, frames, 0, queue);
}

/// Like [`scan_html`], for a document within `srcdoc_depth` nested `srcdoc`s.
pub(super) fn scan_document(html: &str, url: &Url, frames: u8, depth: u8, queue: &mut PageObjectQueue) {
    let mut scanner = HtmlScanner::new(url, frames, depth, queue);
    let mut emitter = CallbackEmitter::new(&mut scanner);
    emitter.naively_switch_states(true);
    // The events do all the work; the tokenizer returns nothing.
    let _ = Tokenizer::new_with_emitter(html, SilentEmitter(emitter)).next();
    scanner.finish();
}

/// The attributes that are read; others are ignored.
const ATTRIBUTES: [&str; 22] = [
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
    pub(super) base: Url,
    pub(super) has_base: bool,
    pub(super) within: ScanContext,
    pub(super) depth: u8,
    /// The current tag, and its attributes: the first of each name counts.
    tag: Vec<u8>,
    attributes: Vec<(&'static str, String)>,
    attribute: Option<usize>,
    /// Number of open `template`s.
    templates: u32,
    /// Whether a `noscript` or `noframes` is open.
    in_noscript: bool,
    /// While a `style` is open: whether it applies to the screen.
    style: Option<bool>,
    pub(super) picture: PictureState,
    pub(super) media: MediaState,
    pub(super) icon: Option<String>,
}

/// The position relative to a `picture`.
pub(super) enum PictureState {
    Outside,
    /// Inside, with the choice of a `source` so far.
    Inside(Option<String>),
}

/// The position relative to an `audio` or `video`.
#[derive(PartialEq)]
pub(super) enum MediaState {
    Outside,
    /// No source was found yet.
    NeedsSource,
    Done,
}

impl Callback<Infallible, ()> for &mut HtmlScanner<'_> {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<Infallible> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag.clear();
                self.tag.extend_from_slice(name);
                self.attributes.clear();
                self.attribute = None;
            }
            CallbackEvent::AttributeName { name } => self.attribute = self.start_attribute(name),
            CallbackEvent::AttributeValue { value } => {
                if let Some((_, text)) = self.attribute.and_then(|index| self.attributes.get_mut(index)) {
                    text.push_str(&from_utf8_lossy(value));
                }
            }
            CallbackEvent::CloseStartTag { .. } => self.on_start_tag(),
            CallbackEvent::EndTag { name } => self.on_end_tag(name),
            CallbackEvent::String { value } if self.style == Some(true) && !self.is_ignored() => {
                let css = from_utf8_lossy(value);
                css_scanner::scan_nested_css(&css, &self.base, &self.within, self.queue);
            }
            _ => {}
        }
        None
    }
}

impl<'a> HtmlScanner<'a> {
    fn new(url: &Url, frames: u8, depth: u8, queue: &'a mut PageObjectQueue) -> Self {
        let within = ScanContext { by: Arc::new(url.clone()), frames, imports: 0 };
        Self {
            queue,
            base: url.clone(),
            has_base: false,
            within,
            depth,
            tag: Vec::new(),
            attributes: Vec::new(),
            attribute: None,
            templates: 0,
            in_noscript: false,
            style: None,
            picture: PictureState::Outside,
            media: MediaState::Outside,
            icon: None,
        }
    }

    fn start_attribute(&mut self, name: &[u8]) -> Option<usize> {
        let name = ATTRIBUTES.into_iter().find(|known| known.as_bytes() == name)?;
        if self.attributes.iter().any(|(known_name, _)| *known_name == name) {
            return None;
        }
        self.attributes.push((name, String::new()));
        Some(self.attributes.len() - 1)
    }

    fn is_ignored(&self) -> bool {
        self.templates > 0 || self.in_noscript
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known_name, _)| *known_name == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn add(&mut self, attribute: &str, kind: PageObjectKind) {
        if let Some((_, reference)) = self.attributes.iter().find(|(known_name, _)| *known_name == attribute)
        {
            self.queue.add(&self.base, reference, kind, &self.within);
        }
    }

    fn on_start_tag(&mut self) {
        let tag = std::mem::take(&mut self.tag);
        match tag.as_slice() {
            b"template" => self.templates += 1,
            b"noscript" | b"noframes" => self.in_noscript = true,
            b"style" => self.style = Some(media_query::matches(self.attribute("media").unwrap_or_default())),
            _ => {}
        }
        if !self.is_ignored() {
            self.on_element(&tag);
            if let Some((_, style)) = self.attributes.iter().find(|(known_name, _)| *known_name == "style")
                && style.contains('(')
            {
                css_scanner::scan_nested_css(style, &self.base, &self.within, self.queue);
            }
        }
        self.tag = tag;
    }

    fn on_end_tag(&mut self, name: &[u8]) {
        match name {
            b"template" => self.templates = self.templates.saturating_sub(1),
            b"noscript" | b"noframes" => self.in_noscript = false,
            b"style" => self.style = None,
            b"picture" => self.picture = PictureState::Outside,
            b"audio" | b"video" => self.media = MediaState::Outside,
            _ => {}
        }
    }
}
