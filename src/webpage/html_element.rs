//! Finds the objects that an HTML element refers to.

use super::html_scanner::{HtmlScanner, MAX_SRCDOC_DEPTH, MediaState, PictureState, scan_document};
use super::media_type::{is_image_type, is_media_type, is_script_type, object_kind};
use super::{media_query, srcset};
use crate::domain::PageObjectKind;

impl HtmlScanner<'_> {
    /// Adds the objects of the element `tag`, whose attributes were read.
    pub(super) fn on_element(&mut self, tag: &[u8]) {
        match tag {
            b"base" => self.on_base(),
            b"img" => self.on_image(),
            b"image" | b"use" | b"feimage" => {
                self.add("href", PageObjectKind::Image);
                self.add("xlink:href", PageObjectKind::Image);
                self.add("src", PageObjectKind::Image);
            }
            b"input" if self.attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("image")) => {
                self.add("src", PageObjectKind::Image);
            }
            b"picture" => self.picture = PictureState::Inside(None),
            b"source" => self.on_source(),
            b"script" => self.script(),
            b"link" => self.on_link(),
            b"iframe" => match self.attribute("srcdoc").map(str::to_owned) {
                Some(document) => self.scan_srcdoc(&document),
                None => self.add("src", PageObjectKind::Frame),
            },
            b"frame" => self.add("src", PageObjectKind::Frame),
            b"audio" | b"video" => self.media_element(),
            b"track" if self.attribute("default").is_some() => self.add("src", PageObjectKind::Media),
            b"object" => self.add("data", object_kind(self.attribute("type"))),
            b"embed" => self.add("src", object_kind(self.attribute("type"))),
            b"body" | b"table" | b"thead" | b"tbody" | b"tfoot" | b"tr" | b"td" | b"th" => {
                self.add("background", PageObjectKind::Image);
            }
            _ => {}
        }
    }

    /// Sets the base URL: the first `base` with an `href` counts, from its position on.
    fn on_base(&mut self) {
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

    fn on_image(&mut self) {
        let from_source = match &mut self.picture {
            PictureState::Inside(from_source) => from_source.take(),
            PictureState::Outside => None,
        };
        let chosen = from_source.or_else(|| {
            let src = self.attribute("src");
            let set = self.attribute("srcset").unwrap_or_default();
            srcset::select_candidate(set, self.attribute("sizes").unwrap_or_default(), src).map(str::to_owned)
        });
        if let Some(url) = chosen {
            self.queue.add(&self.base, &url, PageObjectKind::Image, &self.within);
        }
    }

    fn on_source(&mut self) {
        let applies = media_query::matches(self.attribute("media").unwrap_or_default());
        if let PictureState::Inside(None) = self.picture {
            if applies && self.attribute("type").is_none_or(is_image_type) {
                let set = self.attribute("srcset").unwrap_or_default();
                let chosen = srcset::select_candidate(set, self.attribute("sizes").unwrap_or_default(), None);
                self.picture = PictureState::Inside(chosen.map(str::to_owned));
            }
        } else if self.media == MediaState::NeedsSource
            && applies
            && self.attribute("type").is_none_or(is_media_type)
        {
            self.media = MediaState::Done;
            self.add("src", PageObjectKind::Media);
        }
    }

    fn media_element(&mut self) {
        self.add("poster", PageObjectKind::Image);
        let is_preload_none =
            self.attribute("preload").is_some_and(|value| value.eq_ignore_ascii_case("none"))
                && self.attribute("autoplay").is_none();
        self.media = if is_preload_none || self.attribute("src").is_some() {
            MediaState::Done
        } else {
            MediaState::NeedsSource
        };
        if !is_preload_none {
            self.add("src", PageObjectKind::Media);
        }
    }

    fn script(&mut self) {
        let kind = self.attribute("type").or(self.attribute("language")).unwrap_or_default();
        if self.attribute("nomodule").is_none() && is_script_type(kind) {
            self.add("src", PageObjectKind::Script);
        }
    }

    fn on_link(&mut self) {
        let rel = self.attribute("rel").unwrap_or_default().to_ascii_lowercase();
        let has = |expected: &str| rel.split_ascii_whitespace().any(|token| token == expected);
        let applies = media_query::matches(self.attribute("media").unwrap_or_default());
        if has("stylesheet") && !has("alternate") && self.attribute("disabled").is_none() {
            if let Some(href) = self.attribute("href").map(str::to_owned) {
                self.queue.add_stylesheet(&self.base, &href, PageObjectKind::Style, &self.within, applies);
            }
        } else if has("icon") && applies {
            self.icon = self.attribute("href").and_then(|href| self.base.join(href).ok()).map(String::from);
        } else if has("preload") && applies {
            self.preload();
        } else if has("modulepreload") {
            self.add("href", PageObjectKind::Script);
        } else if has("manifest") {
            self.add("href", PageObjectKind::Other);
        }
    }

    fn preload(&mut self) {
        let kind = match self.attribute("as").unwrap_or_default().to_ascii_lowercase().as_str() {
            "script" | "worker" => PageObjectKind::Script,
            "style" => PageObjectKind::Style,
            "font" => PageObjectKind::Font,
            "image" => {
                let set = self.attribute("imagesrcset").unwrap_or_default();
                let sizes = self.attribute("imagesizes").unwrap_or_default();
                let chosen = srcset::select_candidate(set, sizes, self.attribute("href")).map(str::to_owned);
                if let Some(url) = chosen {
                    self.queue.add(&self.base, &url, PageObjectKind::Image, &self.within);
                }
                return;
            }
            "fetch" | "track" | "json" => PageObjectKind::Other,
            // Browsers ignore unknown values.
            _ => return,
        };
        self.add("href", kind);
    }

    fn scan_srcdoc(&mut self, html: &str) {
        if self.depth < MAX_SRCDOC_DEPTH {
            scan_document(html, &self.base, self.within.frames.saturating_add(1), self.depth + 1, self.queue);
        }
    }

    /// Adds the icon. Browsers load only one: the last that the document names.
    pub(super) fn finish(mut self) {
        if let Some(icon) = self.icon.take().filter(|_| self.within.frames == 0) {
            self.queue.add(&self.base, &icon, PageObjectKind::Other, &self.within);
        }
    }
}
