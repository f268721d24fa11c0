//! What is kept of the pages, and when (interface.md 2.3 Capture, fields.md 3 `capture`): an action is a step,
//! an event one act in it.

use std::io::Cursor;
use std::time::Duration;

use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use tokio::time::Instant;

use super::ask::{self, Of, Told};
use super::budget::Time;
use super::play::{Player, Stopped};
use super::waterfall;
use crate::domain::Capture;
use crate::schema::Document;

/// Bytes of all files of one attempt; what comes after is left out.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of the source of one page.
const SOURCE_BYTES: usize = 1024 * 1024;
/// What taking one file may take; a browser that hangs gives none.
const PATIENCE: Duration = Duration::from_secs(3);
/// Bytes of a decoded picture, whatever its header says.
const PICTURE_BYTES: usize = 512 * 1024 * 1024;
/// Of JPEG, in percent.
const QUALITY: u8 = 80;

/// `capture.level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Disabled,
    ErrorOnly,
    ActionsOnError,
    Actions,
    EventsOnError,
    Events,
}

/// When something may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// After an act that passed.
    Event,
    /// At the end of a step that passed.
    Action,
    /// When an act, and with it the step, failed.
    Failure,
}

/// What becomes of what could be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Never,
    /// Only when the check fails.
    OnError,
    Always,
}

impl Level {
    fn of(text: &str) -> Self {
        match text {
            "Disabled" => Self::Disabled,
            "All Actions on Error" => Self::ActionsOnError,
            "All Actions" => Self::Actions,
            "All Events on Error" => Self::EventsOnError,
            "All Events" => Self::Events,
            _ => Self::ErrorOnly,
        }
    }

    pub(super) const fn keeps(self, moment: Moment) -> Keep {
        match (self, moment) {
            (Self::Disabled, _) => Keep::Never,
            (_, Moment::Failure) | (Self::Actions, Moment::Action) | (Self::Events, Moment::Event) => {
                Keep::Always
            }
            (Self::ActionsOnError, Moment::Action) | (Self::EventsOnError, Moment::Event) => Keep::OnError,
            // The end of a step is the end of its last act.
            _ => Keep::Never,
        }
    }
}

/// The field `capture`.
#[derive(Clone, Copy, Debug)]
pub(super) struct CaptureRule {
    pub(super) level: Level,
    png: bool,
    pub(super) headers: bool,
    images: bool,
    sources: bool,
}

impl CaptureRule {
    /// `pictures`: of each act, whatever the monitor says.
    pub(super) fn of(document: &Document, pictures: bool) -> Self {
        let capture = document.value("capture");
        let text = |name: &str| capture?.get(name)?.as_str();
        let flag = |name: &str| capture.and_then(|capture| capture.get(name)?.as_bool()).unwrap_or(true);
        Self {
            level: if pictures { Level::Events } else { Level::of(text("level").unwrap_or_default()) },
            png: text("mimetype") == Some("image/png"),
            headers: flag("headers"),
            images: flag("images") || pictures,
            sources: flag("sources"),
        }
    }
}

/// What was taken so far.
#[derive(Debug, Default)]
pub(super) struct Files {
    files: Vec<(Capture, Keep)>,
    bytes: usize,
}

impl Files {
    fn add(&mut self, file: Capture, keep: Keep) {
        self.bytes += file.held();
        self.files.push((file, keep));
    }

    const fn is_full(&self) -> bool {
        self.bytes >= MOST_BYTES
    }

    /// Those that are kept of a check that `failed`.
    pub(super) fn kept(self, failed: bool) -> Vec<Capture> {
        let kept = |(file, keep): (Capture, Keep)| (keep == Keep::Always || failed).then_some(file);
        self.files.into_iter().filter_map(kept).collect()
    }
}

impl Player<'_> {
    /// Takes what the monitor wants at this moment; `name` tells the files of the moment apart.
    pub(super) async fn capture(&mut self, moment: Moment, name: &str) {
        let keep = self.options.capture.level.keeps(moment);
        if keep == Keep::Never || self.files.is_full() {
            return;
        }
        let began = Instant::now();
        if self.options.capture.images {
            self.picture(name, keep).await;
        }
        if self.options.capture.sources {
            self.source(name, keep).await;
        }
        if self.options.capture.headers
            && let Some(document) = self.headers.take()
        {
            let text = waterfall::headers(&document, &self.masks());
            let name = format!("{name}-headers.txt");
            self.files.add(Capture::new(&name, "text/plain; charset=utf-8", text.as_bytes()), keep);
        }
        // A step is no slower for being looked at.
        let took = began.elapsed();
        self.aside += took;
        self.budget.give_back(took);
    }

    /// The act `screenshot`: kept whatever the level is, but for `Disabled`.
    pub(super) async fn screenshot(&mut self, name: &str) -> Result<(), Stopped> {
        if self.options.capture.level != Level::Disabled && !self.files.is_full() {
            let name = file_name(name);
            let taken = self.files.files.iter().filter(|(file, _)| file.name.starts_with(&name)).count();
            let name = if taken > 0 { format!("{name}-{}", taken + 1) } else { name };
            self.picture(&name, Keep::Always).await;
        }
        Ok(())
    }

    async fn picture(&mut self, name: &str, keep: Keep) {
        let Ok(png) = self.session.screenshot(Instant::now() + PATIENCE).await else { return };
        let file = if self.options.capture.png {
            Some(Capture::new(&format!("{name}.png"), "image/png", &png))
        } else {
            // Milliseconds of work: not between the sockets.
            let jpeg = tokio::task::spawn_blocking(move || jpeg(&png)).await.ok().flatten();
            jpeg.map(|jpeg| Capture::new(&format!("{name}.jpg"), "image/jpeg", &jpeg))
        };
        if let Some(file) = file {
            self.files.add(file, keep);
        }
    }

    async fn source(&mut self, name: &str, keep: Keep) {
        let told = ask::text(&self.session, &Of::Source, None, Time::aside(Instant::now() + PATIENCE)).await;
        let Ok(Told::Text(text, _)) = told else { return };
        let masks = self.masks();
        let masked = masks.masked(&text);
        let mut end = masked.len().min(SOURCE_BYTES);
        while !masked.is_char_boundary(end) {
            end -= 1;
        }
        let file =
            Capture::new(&format!("{name}.html"), "text/html; charset=utf-8", masked[..end].as_bytes());
        self.files.add(file, keep);
    }
}

/// `png` as JPEG, which is a fraction of its size.
fn jpeg(png: &[u8]) -> Option<Vec<u8>> {
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(png), png::Limits { bytes: PICTURE_BYTES });
    // Of 8 bits a channel, and without a palette.
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().ok()?;
    let mut pixels = vec![0; reader.output_buffer_size().filter(|size| *size <= PICTURE_BYTES)?];
    let read = reader.next_frame(&mut pixels).ok()?;
    pixels.truncate(read.buffer_size());
    let color = match read.color_type {
        png::ColorType::Rgb => ColorType::Rgb,
        png::ColorType::Rgba => ColorType::Rgba,
        png::ColorType::Grayscale => ColorType::Luma,
        png::ColorType::GrayscaleAlpha => {
            pixels = pixels.into_iter().step_by(2).collect();
            ColorType::Luma
        }
        png::ColorType::Indexed => return None,
    };
    let (width, height) = (u16::try_from(read.width).ok()?, u16::try_from(read.height).ok()?);
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, QUALITY);
    // Colours in full resolution, or coloured text is blurred.
    encoder.set_sampling_factor(SamplingFactor::F_1_1);
    encoder.encode(&pixels, width, height, color).ok()?;
    Some(out)
}

/// `text` as the name of a file.
fn file_name(text: &str) -> String {
    let fits = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = text.chars().take(60).map(fits).collect();
    if name.is_empty() { "screenshot".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_keep_what_the_fields_say() {
        use Keep::{Always, Never, OnError};
        for (text, event, action, failure) in [
            ("Disabled", Never, Never, Never),
            ("Error Only", Never, Never, Always),
            ("All Actions on Error", Never, OnError, Always),
            ("All Actions", Never, Always, Always),
            ("All Events on Error", OnError, Never, Always),
            ("All Events", Always, Never, Always),
        ] {
            let level = Level::of(text);
            assert_eq!(level.keeps(Moment::Event), event, "{text}");
            assert_eq!(level.keeps(Moment::Action), action, "{text}");
            assert_eq!(level.keeps(Moment::Failure), failure, "{text}");
        }
    }

    #[test]
    fn a_png_of_every_kind_becomes_a_jpeg_of_the_same_colours() {
        use png::{BitDepth, ColorType};
        let (width, height) = (24, 17);
        let rgb = [200, 40, 90];
        for (color, depth, pixel, expected) in [
            (ColorType::Rgb, BitDepth::Eight, &[200, 40, 90][..], rgb),
            (ColorType::Rgba, BitDepth::Eight, &[200, 40, 90, 7], rgb),
            (ColorType::Rgb, BitDepth::Sixteen, &[200, 9, 40, 9, 90, 9], rgb),
            (ColorType::Indexed, BitDepth::Eight, &[1], rgb),
            (ColorType::Grayscale, BitDepth::Eight, &[77], [77; 3]),
            (ColorType::GrayscaleAlpha, BitDepth::Eight, &[77, 255], [77; 3]),
        ] {
            let mut packed = Vec::new();
            let mut encoder = png::Encoder::new(&mut packed, width, height);
            encoder.set_color(color);
            encoder.set_depth(depth);
            if color == ColorType::Indexed {
                encoder.set_palette(vec![0, 0, 0, 200, 40, 90]);
            }
            let pixels = pixel.repeat((width * height) as usize);
            encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
            let mut decoder = zune_jpeg::JpegDecoder::new(Cursor::new(jpeg(&packed).unwrap()));
            let pixels = decoder.decode().unwrap();
            let read = decoder.info().unwrap();
            assert_eq!((u32::from(read.width), u32::from(read.height)), (width, height), "{color:?}");
            for pixel in pixels.chunks(pixels.len() / (width * height) as usize) {
                let near = pixel.iter().zip(expected).all(|(is, wanted)| is.abs_diff(wanted) < 4);
                assert!(near, "{color:?} {depth:?}: {pixel:?}, not {expected:?}");
            }
            assert_eq!(jpeg(&packed[..packed.len() / 2]), None, "{color:?}");
        }
        assert_eq!(jpeg(b"no picture"), None);
    }
}
