//! Any selector over any page of metrics: the page is refused or read within its limits, the same in both ways; names
//! of series and selectors have one canonical text.

use vigie::syntax::prometheus::exposition::{ExpositionLimits, SampleRef, parse_exposition, visit_exposition};
use vigie::syntax::prometheus::selector::MetricSelector;
use vigie::syntax::prometheus::series_name::{MAX_SERIES_BYTES, SeriesName};

const LIMITS: ExpositionLimits =
    ExpositionLimits { max_bytes: 32 * 1024, max_samples: 500, max_labels: 8, max_line_bytes: 4096 };

// Input: the selector up to a line feed, then the page.
pub fn run(data: &[u8]) {
    let Some(end) = data.iter().position(|byte| *byte == b'\n') else { return };
    let (selector, page) = (std::str::from_utf8(&data[..end]).ok(), &data[end + 1..]);
    let selector = selector.and_then(check_selector);
    let mut visited = 0;
    let count = visit_exposition(page, &LIMITS, |sample| {
        visited += 1;
        check_sample(sample, selector.as_ref());
    });
    let parsed = parse_exposition(page, &LIMITS);
    assert_eq!(parsed.as_ref().err(), count.as_ref().err());
    if let Ok(samples) = parsed {
        assert_eq!((samples.len(), count), (visited, Ok(visited)));
        assert!(visited <= LIMITS.max_samples);
    }
}

/// A selector comes back from its text, or the column of the error is within the text.
fn check_selector(text: &str) -> Option<MetricSelector> {
    match MetricSelector::parse(text) {
        Ok(selector) => {
            assert_eq!(MetricSelector::parse(&selector.to_string()).as_ref(), Ok(&selector));
            Some(selector)
        }
        Err(error) => {
            assert!((1..=text.chars().count() + 1).contains(&error.column), "{error}");
            None
        }
    }
}

fn check_sample(sample: &SampleRef<'_, '_>, selector: Option<&MetricSelector>) {
    assert!(sample.labels.len() <= LIMITS.max_labels && !sample.metric.is_empty());
    let Ok(name) = SeriesName::new(sample.metric, sample.labels) else {
        assert!(sample.metric.len() > 200 || sample.labels.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() > 100);
        return;
    };
    let text = name.to_string();
    assert!(text.len() <= MAX_SERIES_BYTES);
    assert_eq!(SeriesName::parse(&text).as_ref(), Ok(&name));
    assert!(MetricSelector::parse(&text).expect("a name is a selector").matches_series(&name));
    if let Some(selector) = selector {
        assert_eq!(selector.matches_sample(sample), selector.matches_series(&name), "{selector} {name}");
    }
}
