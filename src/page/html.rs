//! What an HTML document names, told by its tags alone: no tree is built.

use std::convert::Infallible;
use std::sync::Arc;

use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use url::Url;

use super::finds::{Finds, Within};
use super::{css, media, srcset};
use crate::model::ObjectKind;

/// Documents within `srcdoc` within each other that are looked into.
const DEEPEST: u8 = 2;

/// Adds what the document `html` names, which came from `url` and lies in so many `frames`.
pub fn scan(html: &str, url: &Url, frames: u8, finds: &mut Finds) {
    document(html, url, frames, 0, finds);
}

fn document(html: &str, url: &Url, frames: u8, depth: u8, finds: &mut Finds) {
    let mut scanner = Scanner::new(url, frames, depth, finds);
    let mut emitter = CallbackEmitter::new(&mut scanner);
    emitter.naively_switch_states(true);
    // Everything happens in the events: nothing is ever handed out.
    let _ = Tokenizer::new_with_emitter(html, emitter).next();
    scanner.finish();
}

/// The attributes that matter; the rest is passed over.
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

struct Scanner<'a> {
    finds: &'a mut Finds,
    base: Url,
    has_base: bool,
    within: Within,
    depth: u8,
    /// The tag that is being read, and its attributes: the first of each name counts.
    tag: Vec<u8>,
    attributes: Vec<(&'static str, String)>,
    attribute: Option<usize>,
    /// Open `template`s.
    templates: u32,
    /// In a `noscript` or `noframes`.
    unseen: bool,
    /// In a `style`, whether it is for the screen.
    style: Option<bool>,
    picture: Picture,
    media: Media,
    icon: Option<String>,
}

/// Where we are in a `picture`.
enum Picture {
    Outside,
    /// With what a `source` gave so far.
    Inside(Option<String>),
}

/// Where we are in an `audio` or `video`.
#[derive(PartialEq)]
enum Media {
    Outside,
    /// No source was found yet.
    Wanting,
    Served,
}

impl Callback<Infallible, ()> for &mut Scanner<'_> {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<Infallible> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag.clear();
                self.tag.extend_from_slice(name);
                self.attributes.clear();
                self.attribute = None;
            }
            CallbackEvent::AttributeName { name } => self.attribute = self.begin_attribute(name),
            CallbackEvent::AttributeValue { value } => {
                if let Some((_, held)) = self.attribute.and_then(|at| self.attributes.get_mut(at)) {
                    held.push_str(&String::from_utf8_lossy(value));
                }
            }
            CallbackEvent::CloseStartTag { .. } => self.start(),
            CallbackEvent::EndTag { name } => self.end(name),
            CallbackEvent::String { value } if self.style == Some(true) && !self.is_passed_over() => {
                let text = String::from_utf8_lossy(value);
                css::scan_within(&text, &self.base, &self.within, self.finds);
            }
            _ => {}
        }
        None
    }
}

impl<'a> Scanner<'a> {
    fn new(url: &Url, frames: u8, depth: u8, finds: &'a mut Finds) -> Self {
        let within = Within { by: Arc::new(url.clone()), frames, imports: 0 };
        Self {
            finds,
            base: url.clone(),
            has_base: false,
            within,
            depth,
            tag: Vec::new(),
            attributes: Vec::new(),
            attribute: None,
            templates: 0,
            unseen: false,
            style: None,
            picture: Picture::Outside,
            media: Media::Outside,
            icon: None,
        }
    }

    fn begin_attribute(&mut self, name: &[u8]) -> Option<usize> {
        let name = ATTRIBUTES.into_iter().find(|known| known.as_bytes() == name)?;
        if self.attributes.iter().any(|(held, _)| *held == name) {
            return None;
        }
        self.attributes.push((name, String::new()));
        Some(self.attributes.len() - 1)
    }

    fn is_passed_over(&self) -> bool {
        self.templates > 0 || self.unseen
    }

    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(held, _)| *held == name).map(|(_, value)| value.as_str())
    }

    fn add(&mut self, attribute: &str, kind: ObjectKind) {
        if let Some((_, reference)) = self.attributes.iter().find(|(held, _)| *held == attribute) {
            self.finds.add(&self.base, reference, kind, &self.within);
        }
    }

    fn start(&mut self) {
        let tag = std::mem::take(&mut self.tag);
        match tag.as_slice() {
            b"template" => self.templates += 1,
            b"noscript" | b"noframes" => self.unseen = true,
            b"style" => self.style = Some(media::matches(self.attribute("media").unwrap_or_default())),
            _ => {}
        }
        if !self.is_passed_over() {
            self.element(&tag);
            if let Some((_, style)) = self.attributes.iter().find(|(held, _)| *held == "style")
                && style.contains('(')
            {
                css::scan_within(style, &self.base, &self.within, self.finds);
            }
        }
        self.tag = tag;
    }

    fn end(&mut self, name: &[u8]) {
        match name {
            b"template" => self.templates = self.templates.saturating_sub(1),
            b"noscript" | b"noframes" => self.unseen = false,
            b"style" => self.style = None,
            b"picture" => self.picture = Picture::Outside,
            b"audio" | b"video" => self.media = Media::Outside,
            _ => {}
        }
    }

    fn element(&mut self, tag: &[u8]) {
        match tag {
            b"base" => self.set_base(),
            b"img" => self.image(),
            b"image" | b"use" | b"feimage" => {
                self.add("href", ObjectKind::Image);
                self.add("xlink:href", ObjectKind::Image);
                self.add("src", ObjectKind::Image);
            }
            b"input" if self.attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("image")) => {
                self.add("src", ObjectKind::Image);
            }
            b"picture" => self.picture = Picture::Inside(None),
            b"source" => self.source(),
            b"script" => self.script(),
            b"link" => self.link(),
            b"iframe" => match self.attribute("srcdoc").map(str::to_owned) {
                Some(document) => self.inline_document(&document),
                None => self.add("src", ObjectKind::Frame),
            },
            b"frame" => self.add("src", ObjectKind::Frame),
            b"audio" | b"video" => self.media_element(),
            b"track" if self.attribute("default").is_some() => self.add("src", ObjectKind::Media),
            b"object" => self.add("data", kind_of(self.attribute("type"))),
            b"embed" => self.add("src", kind_of(self.attribute("type"))),
            b"body" | b"table" | b"thead" | b"tbody" | b"tfoot" | b"tr" | b"td" | b"th" => {
                self.add("background", ObjectKind::Image);
            }
            _ => {}
        }
    }

    /// The first `base` with an `href` counts, from where it stands on.
    fn set_base(&mut self) {
        if self.has_base {
            return;
        }
        let Some(href) = self.attribute("href").map(str::trim) else { return };
        let base = self.within.by.join(href).ok().filter(|base| matches!(base.scheme(), "http" | "https"));
        self.has_base = true;
        if let Some(base) = base {
            self.base = base;
        }
    }

    fn image(&mut self) {
        let given = match &mut self.picture {
            Picture::Inside(given) => given.take(),
            Picture::Outside => None,
        };
        let chosen = given.or_else(|| {
            let src = self.attribute("src");
            let set = self.attribute("srcset").unwrap_or_default();
            srcset::choose(set, self.attribute("sizes").unwrap_or_default(), src).map(str::to_owned)
        });
        if let Some(url) = chosen {
            self.finds.add(&self.base, &url, ObjectKind::Image, &self.within);
        }
    }

    fn source(&mut self) {
        let fits = media::matches(self.attribute("media").unwrap_or_default());
        if let Picture::Inside(None) = self.picture {
            if fits && self.attribute("type").is_none_or(is_picture_type) {
                let set = self.attribute("srcset").unwrap_or_default();
                let chosen = srcset::choose(set, self.attribute("sizes").unwrap_or_default(), None);
                self.picture = Picture::Inside(chosen.map(str::to_owned));
            }
        } else if self.media == Media::Wanting && fits && self.attribute("type").is_none_or(is_media_type) {
            self.media = Media::Served;
            self.add("src", ObjectKind::Media);
        }
    }

    fn media_element(&mut self) {
        self.add("poster", ObjectKind::Image);
        let rests = self.attribute("preload").is_some_and(|value| value.eq_ignore_ascii_case("none"))
            && self.attribute("autoplay").is_none();
        self.media = if rests || self.attribute("src").is_some() { Media::Served } else { Media::Wanting };
        if !rests {
            self.add("src", ObjectKind::Media);
        }
    }

    fn script(&mut self) {
        let kind = self.attribute("type").or(self.attribute("language")).unwrap_or_default();
        if self.attribute("nomodule").is_none() && is_script_type(kind) {
            self.add("src", ObjectKind::Script);
        }
    }

    fn link(&mut self) {
        let rel = self.attribute("rel").unwrap_or_default().to_ascii_lowercase();
        let has = |word: &str| rel.split_ascii_whitespace().any(|held| held == word);
        let fits = media::matches(self.attribute("media").unwrap_or_default());
        if has("stylesheet") && !has("alternate") && self.attribute("disabled").is_none() {
            if let Some(href) = self.attribute("href").map(str::to_owned) {
                self.finds.add_sheet(&self.base, &href, ObjectKind::Style, &self.within, fits);
            }
        } else if has("icon") && fits {
            self.icon = self.attribute("href").and_then(|href| self.base.join(href).ok()).map(String::from);
        } else if has("preload") && fits {
            self.preload();
        } else if has("modulepreload") {
            self.add("href", ObjectKind::Script);
        } else if has("manifest") {
            self.add("href", ObjectKind::Other);
        }
    }

    fn preload(&mut self) {
        let kind = match self.attribute("as").unwrap_or_default().to_ascii_lowercase().as_str() {
            "script" | "worker" => ObjectKind::Script,
            "style" => ObjectKind::Style,
            "font" => ObjectKind::Font,
            "image" => {
                let set = self.attribute("imagesrcset").unwrap_or_default();
                let sizes = self.attribute("imagesizes").unwrap_or_default();
                let chosen = srcset::choose(set, sizes, self.attribute("href")).map(str::to_owned);
                if let Some(url) = chosen {
                    self.finds.add(&self.base, &url, ObjectKind::Image, &self.within);
                }
                return;
            }
            "fetch" | "track" | "json" => ObjectKind::Other,
            // Browsers pass over what they do not know.
            _ => return,
        };
        self.add("href", kind);
    }

    fn inline_document(&mut self, html: &str) {
        if self.depth < DEEPEST {
            document(html, &self.base, self.within.frames.saturating_add(1), self.depth + 1, self.finds);
        }
    }

    /// Browsers take one icon: the last of equal ones.
    fn finish(mut self) {
        if let Some(icon) = self.icon.take().filter(|_| self.within.frames == 0) {
            self.finds.add(&self.base, &icon, ObjectKind::Other, &self.within);
        }
    }
}

/// The media type without its parameters.
fn essence(kind: &str) -> String {
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_picture_type(kind: &str) -> bool {
    let known = ["avif", "webp", "jpeg", "jpg", "png", "apng", "gif", "svg+xml", "bmp", "x-icon"];
    let kind = essence(kind);
    kind.is_empty() || kind.strip_prefix("image/").is_some_and(|kind| known.contains(&kind))
}

fn is_media_type(kind: &str) -> bool {
    let known = [
        "mp4", "webm", "ogg", "mpeg", "mp3", "aac", "wav", "x-wav", "wave", "flac", "x-flac", "x-m4a", "opus",
    ];
    let kind = essence(kind);
    let bare = kind.strip_prefix("video/").or(kind.strip_prefix("audio/"));
    kind.is_empty() || kind == "application/ogg" || bare.is_some_and(|kind| known.contains(&kind))
}

/// Types that are run (WHATWG HTML 4.12.1.1); others are data.
fn is_script_type(kind: &str) -> bool {
    let kind = essence(kind);
    let bare = kind.strip_prefix("text/").or(kind.strip_prefix("application/")).unwrap_or(&kind);
    kind.is_empty()
        || kind == "module"
        || bare.starts_with("javascript")
        || matches!(bare, "ecmascript" | "x-javascript" | "x-ecmascript" | "jscript" | "livescript")
}

fn kind_of(kind: Option<&str>) -> ObjectKind {
    match essence(kind.unwrap_or_default()).split_once('/') {
        Some(("image", _)) => ObjectKind::Image,
        Some(("audio" | "video", _)) => ObjectKind::Media,
        Some(("text", "html")) => ObjectKind::Frame,
        _ => ObjectKind::Other,
    }
}
