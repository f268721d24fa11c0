//! Captures of the pages: screenshots, sources, header fields.

use std::io::Cursor;
use std::time::Duration;

use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use tokio::time::Instant;

use super::capture_rule::{CaptureMoment, CaptureRetention, CaptureRule};
use super::dom::{self, TextReading, TextSource};
use super::network_results;
use super::page_documents::{PageDocuments, ShownDocument, find_request, shown_document};
use super::script_browser::ScriptBrowser;
use super::step_recorder::StepRecorder;
use super::time_budget::{TimeBudget, WaitLimit};
use crate::browser::BrowserSession;
use crate::domain::CapturedFile;
use crate::redaction::redactor::Redactor;

/// Longest page source that is kept, in bytes.
const MAX_SOURCE_BYTES: usize = 1024 * 1024;
/// Limit for capturing one file; after it, the capture is left out.
const CAPTURE_TIMEOUT: Duration = Duration::from_secs(3);
/// How often the files of a moment are taken at most, when the page changes meanwhile.
const MAX_CAPTURE_ROUNDS: u32 = 3;
/// Largest decoded screenshot, in bytes, whatever its header claims.
const MAX_IMAGE_BYTES: usize = 512 * 1024 * 1024;
/// JPEG quality in percent.
const JPEG_QUALITY: u8 = 80;

/// Takes the captures that the monitor's rule sets for this moment; `name_prefix` begins the file names.
pub(super) async fn capture_moment(
    recorder: &mut StepRecorder<'_>,
    browser: &ScriptBrowser<'_>,
    budget: &mut TimeBudget,
    rule: &CaptureRule,
    redactor: &Redactor,
    (moment, name_prefix): (CaptureMoment, &str),
) {
    let retention = rule.retention(moment);
    if retention == CaptureRetention::Never || recorder.capture_files.is_full() {
        return;
    }
    let started = Instant::now();
    for file in capture_page(&recorder.page_documents, browser, rule, redactor, (moment, name_prefix)).await {
        recorder.capture_files.add(file, retention);
    }
    // Captures do not count as time of the step.
    let duration = started.elapsed();
    recorder.exclude_capture_time(duration);
    budget.refund_capture_time(duration);
}

/// Captures screenshot, source and header fields of one document: if the page changes to another one meanwhile, they
/// are taken again. Of a page that keeps changing, only the screenshot is kept.
async fn capture_page(
    documents: &PageDocuments,
    browser: &ScriptBrowser<'_>,
    rule: &CaptureRule,
    redactor: &Redactor,
    (moment, name_prefix): (CaptureMoment, &str),
) -> Vec<CapturedFile> {
    let needs_one_document =
        [rule.screenshots, rule.page_sources, rule.headers].iter().filter(|is_on| **is_on).count() > 1;
    let mut shown = if rule.headers || needs_one_document { shown_document(browser).await } else { None };
    let mut rounds = 0;
    loop {
        rounds += 1;
        let (mut screenshot, mut source, mut headers) = (None, None, None);
        if rule.screenshots {
            screenshot = capture_screenshot(&browser.session, rule, name_prefix).await;
        }
        if rule.page_sources {
            source = capture_source(&browser.session, redactor, name_prefix).await;
        }
        if rule.headers {
            headers =
                capture_headers(documents, browser, redactor, shown.as_ref(), (moment, name_prefix)).await;
        }
        let shown_after =
            if needs_one_document && shown.is_some() { shown_document(browser).await } else { None };
        if shown_after.is_none() || shown_after == shown {
            return [screenshot, source, headers].into_iter().flatten().collect();
        }
        if rounds == MAX_CAPTURE_ROUNDS {
            return screenshot.or(source).into_iter().collect();
        }
        shown = shown_after;
    }
}

/// Captures the header fields of the `shown` document. At a failure that shows none, such as an error page of the
/// browser, those of the last request for a page of this step.
async fn capture_headers(
    documents: &PageDocuments,
    browser: &ScriptBrowser<'_>,
    redactor: &Redactor,
    shown: Option<&ShownDocument>,
    (moment, name_prefix): (CaptureMoment, &str),
) -> Option<CapturedFile> {
    let request = match shown {
        Some(shown) => find_request(browser, documents, shown).await,
        None => None,
    };
    let last_in_step = || documents.last_in_step().filter(|_| moment == CaptureMoment::Failure).cloned();
    let text = network_results::header_text(&request.or_else(last_in_step)?, redactor);
    let name = format!("{name_prefix}-headers.txt");
    Some(CapturedFile::new(&name, "text/plain; charset=utf-8", text.as_bytes()))
}

/// Performs the action `screenshot`. The file is kept at every level but `Disabled`.
pub(super) async fn run_screenshot_action(
    recorder: &mut StepRecorder<'_>,
    session: &BrowserSession,
    rule: &CaptureRule,
    name: &str,
) {
    if rule.is_disabled() || recorder.capture_files.is_full() {
        return;
    }
    let name = to_file_name(name);
    let count = recorder.capture_files.count_with_prefix(&name);
    let name = if count > 0 { format!("{name}-{}", count + 1) } else { name };
    if let Some(file) = capture_screenshot(session, rule, &name).await {
        recorder.capture_files.add(file, CaptureRetention::Always);
    }
}

async fn capture_screenshot(
    session: &BrowserSession,
    rule: &CaptureRule,
    name: &str,
) -> Option<CapturedFile> {
    let png = session.screenshot(Instant::now() + CAPTURE_TIMEOUT).await.ok()?;
    if rule.screenshots_as_png {
        return Some(CapturedFile::new(&format!("{name}.png"), "image/png", &png));
    }
    // Encoding takes milliseconds, too long for the async thread.
    let jpeg = tokio::task::spawn_blocking(move || png_to_jpeg(&png)).await.ok().flatten();
    jpeg.map(|jpeg| CapturedFile::new(&format!("{name}.jpg"), "image/jpeg", &jpeg))
}

async fn capture_source(session: &BrowserSession, redactor: &Redactor, name: &str) -> Option<CapturedFile> {
    let reading = dom::read_text(
        session,
        &TextSource::PageSource,
        None,
        WaitLimit::immediate(Instant::now() + CAPTURE_TIMEOUT),
    )
    .await;
    let Ok(TextReading::Text(text, _)) = reading else { return None };
    let redacted = redactor.redact(&text);
    let mut end = redacted.len().min(MAX_SOURCE_BYTES);
    while !redacted.is_char_boundary(end) {
        end -= 1;
    }
    Some(CapturedFile::new(&format!("{name}.html"), "text/html; charset=utf-8", redacted[..end].as_bytes()))
}

/// Converts `png` to JPEG, which is a fraction of its size.
fn png_to_jpeg(png: &[u8]) -> Option<Vec<u8>> {
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(png), png::Limits { bytes: MAX_IMAGE_BYTES });
    // Converts to 8 bits per channel, without a palette.
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().ok()?;
    let mut pixels = vec![0; reader.output_buffer_size().filter(|size| *size <= MAX_IMAGE_BYTES)?];
    let frame = reader.next_frame(&mut pixels).ok()?;
    pixels.truncate(frame.buffer_size());
    let color = match frame.color_type {
        png::ColorType::Rgb => ColorType::Rgb,
        png::ColorType::Rgba => ColorType::Rgba,
        png::ColorType::Grayscale => ColorType::Luma,
        png::ColorType::GrayscaleAlpha => {
            pixels = pixels.into_iter().step_by(2).collect();
            ColorType::Luma
        }
        png::ColorType::Indexed => return None,
    };
    let (width, height) = (u16::try_from(frame.width).ok()?, u16::try_from(frame.height).ok()?);
    let mut encoded = Vec::new();
    let mut encoder = Encoder::new(&mut encoded, JPEG_QUALITY);
    // No chroma subsampling: it blurs coloured text.
    encoder.set_sampling_factor(SamplingFactor::F_1_1);
    encoder.encode(&pixels, width, height, color).ok()?;
    Some(encoded)
}

/// Converts `text` to a file name.
fn to_file_name(text: &str) -> String {
    let to_allowed = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = text.chars().take(60).map(to_allowed).collect();
    if name.is_empty() { "screenshot".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_png_of_any_colour_type_becomes_a_jpeg_of_the_same_colours() {
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
            let mut decoder = zune_jpeg::JpegDecoder::new(Cursor::new(png_to_jpeg(&packed).unwrap()));
            let pixels = decoder.decode().unwrap();
            let jpeg_info = decoder.info().unwrap();
            assert_eq!(
                (u32::from(jpeg_info.width), u32::from(jpeg_info.height)),
                (width, height),
                "{color:?}"
            );
            for pixel in pixels.chunks(pixels.len() / (width * height) as usize) {
                let near = pixel.iter().zip(expected).all(|(actual, wanted)| actual.abs_diff(wanted) < 4);
                assert!(near, "{color:?} {depth:?}: {pixel:?}, not {expected:?}");
            }
            assert_eq!(png_to_jpeg(&packed[..packed.len() / 2]), None, "{color:?}");
        }
        assert_eq!(png_to_jpeg(b"no picture"), None);
    }
}
