//! Finds the objects that an HTML element refers to.

use super::html_scanner::{HtmlScanner, MAX_SRCDOC_DEPTH, MediaElementState, PictureState, scan_document};
use super::media_type::{
    is_executable_script_type, is_supported_av_type, is_supported_image_type, object_kind_from_media_type,
};
use super::{media_query, srcset};
use crate::domain::PageObjectKind;

impl HtmlScanner<'_> {
    /// Adds the objects of the element `tag_name`, whose attributes were read.
    pub(super) fn on_element(&mut self, tag_name: &[u8]) {
        match tag_name {
            b"base" => self.on_base(),
            b"img" => self.on_image(),
            b"image" | b"use" | b"feimage" => {
                self.add_attribute_url("href", PageObjectKind::Image);
                self.add_attribute_url("xlink:href", PageObjectKind::Image);
                self.add_attribute_url("src", PageObjectKind::Image);
            }
            b"input" if self.attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("image")) => {
                self.add_attribute_url("src", PageObjectKind::Image);
            }
            b"picture" => self.picture_state = PictureState::Inside(None),
            b"source" => self.on_source(),
            b"script" => self.on_script(),
            b"link" => self.on_link(),
            b"iframe" => match self.attribute("srcdoc").map(str::to_owned) {
                Some(document) => self.scan_srcdoc(&document),
                None => self.add_attribute_url("src", PageObjectKind::Frame),
            },
            b"frame" => self.add_attribute_url("src", PageObjectKind::Frame),
            b"audio" | b"video" => self.on_media_element(),
            b"track" if self.attribute("default").is_some() => {
                self.add_attribute_url("src", PageObjectKind::Media);
            }
            b"object" => self.add_attribute_url("data", object_kind_from_media_type(self.attribute("type"))),
            b"embed" => self.add_attribute_url("src", object_kind_from_media_type(self.attribute("type"))),
            b"body" | b"table" | b"thead" | b"tbody" | b"tfoot" | b"tr" | b"td" | b"th" => {
                self.add_attribute_url("background", PageObjectKind::Image);
            }
            _ => {}
        }
    }

    /// Sets the base URL: the first `base` element with an `href` counts, from its position on.
    fn on_base(&mut self) {
        if self.has_base {
            return;
        }
        let Some(href) = self.attribute("href").map(str::trim) else { return };
        let base_url = self
            .context
            .referrer
            .join(href)
            .ok()
            .filter(|base_url| matches!(base_url.scheme(), "http" | "https"));
        self.has_base = true;
        if let Some(base_url) = base_url {
            self.base_url = base_url;
        }
    }

    fn on_image(&mut self) {
        let from_source = match &mut self.picture_state {
            PictureState::Inside(from_source) => from_source.take(),
            PictureState::Outside => None,
        };
        let image_url = from_source.or_else(|| {
            let src = self.attribute("src");
            let srcset_value = self.attribute("srcset").unwrap_or_default();
            srcset::select_image_url(srcset_value, self.attribute("sizes").unwrap_or_default(), src)
                .map(str::to_owned)
        });
        if let Some(url) = image_url {
            self.queue.add(&self.base_url, &url, PageObjectKind::Image, &self.context);
        }
    }

    fn on_source(&mut self) {
        let applies_to_screen = media_query::matches_viewport(self.attribute("media").unwrap_or_default());
        if let PictureState::Inside(None) = self.picture_state {
            if applies_to_screen && self.attribute("type").is_none_or(is_supported_image_type) {
                let srcset_value = self.attribute("srcset").unwrap_or_default();
                let image_url =
                    srcset::select_image_url(srcset_value, self.attribute("sizes").unwrap_or_default(), None);
                self.picture_state = PictureState::Inside(image_url.map(str::to_owned));
            }
        } else if self.media_state == MediaElementState::NeedsSource
            && applies_to_screen
            && self.attribute("type").is_none_or(is_supported_av_type)
        {
            self.media_state = MediaElementState::NoSourceNeeded;
            self.add_attribute_url("src", PageObjectKind::Media);
        }
    }

    fn on_media_element(&mut self) {
        self.add_attribute_url("poster", PageObjectKind::Image);
        let is_preload_none =
            self.attribute("preload").is_some_and(|value| value.eq_ignore_ascii_case("none"))
                && self.attribute("autoplay").is_none();
        self.media_state = if is_preload_none || self.attribute("src").is_some() {
            MediaElementState::NoSourceNeeded
        } else {
            MediaElementState::NeedsSource
        };
        if !is_preload_none {
            self.add_attribute_url("src", PageObjectKind::Media);
        }
    }

    fn on_script(&mut self) {
        let script_type = self.attribute("type").or(self.attribute("language")).unwrap_or_default();
        if self.attribute("nomodule").is_none() && is_executable_script_type(script_type) {
            self.add_attribute_url("src", PageObjectKind::Script);
        }
    }

    fn on_link(&mut self) {
        let rel = self.attribute("rel").unwrap_or_default().to_ascii_lowercase();
        let rel_contains = |expected: &str| rel.split_ascii_whitespace().any(|token| token == expected);
        let applies_to_screen = media_query::matches_viewport(self.attribute("media").unwrap_or_default());
        if rel_contains("stylesheet") && !rel_contains("alternate") && self.attribute("disabled").is_none() {
            if let Some(href) = self.attribute("href").map(str::to_owned) {
                self.queue.add_with_media(
                    &self.base_url,
                    &href,
                    PageObjectKind::StyleSheet,
                    &self.context,
                    applies_to_screen,
                );
            }
        } else if rel_contains("icon") && applies_to_screen {
            self.icon_url =
                self.attribute("href").and_then(|href| self.base_url.join(href).ok()).map(String::from);
        } else if rel_contains("preload") && applies_to_screen {
            self.on_preload();
        } else if rel_contains("modulepreload") {
            self.add_attribute_url("href", PageObjectKind::Script);
        } else if rel_contains("manifest") {
            self.add_attribute_url("href", PageObjectKind::Other);
        }
    }

    fn on_preload(&mut self) {
        let object_kind = match self.attribute("as").unwrap_or_default().to_ascii_lowercase().as_str() {
            "script" | "worker" => PageObjectKind::Script,
            "style" => PageObjectKind::StyleSheet,
            "font" => PageObjectKind::Font,
            "image" => {
                let srcset_value = self.attribute("imagesrcset").unwrap_or_default();
                let sizes = self.attribute("imagesizes").unwrap_or_default();
                let image_url =
                    srcset::select_image_url(srcset_value, sizes, self.attribute("href")).map(str::to_owned);
                if let Some(url) = image_url {
                    self.queue.add(&self.base_url, &url, PageObjectKind::Image, &self.context);
                }
                return;
            }
            "fetch" | "track" | "json" => PageObjectKind::Other,
            // Browsers ignore unknown values.
            _ => return,
        };
        self.add_attribute_url("href", object_kind);
    }

    fn scan_srcdoc(&mut self, html: &str) {
        if self.srcdoc_depth < MAX_SRCDOC_DEPTH {
            scan_document(
                html,
                &self.base_url,
                self.context.frame_depth.saturating_add(1),
                self.srcdoc_depth + 1,
                self.queue,
            );
        }
    }

    /// Adds the icon. Browsers load only one: the last that the document names.
    pub(super) fn finish(mut self) {
        if let Some(icon) = self.icon_url.take().filter(|_| self.context.frame_depth == 0) {
            self.queue.add(&self.base_url, &icon, PageObjectKind::Other, &self.context);
        }
    }
}
