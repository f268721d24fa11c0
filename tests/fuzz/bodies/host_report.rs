//! Any bytes as a report of a host, packed or not: refused, or read within its limits.

use vigie::domain::MAX_REPORT_SERIES;
use vigie::service::hosts::{MAX_REPORT_BYTES, read_report};
use vigie::syntax::prometheus::series_name::SeriesName;

// Input: a byte that says whether it is packed, then the body.
pub fn run(data: &[u8]) {
    let Some((first, body)) = data.split_first() else { return };
    let Ok(report) = read_report(body, *first == b'z') else { return };
    assert!(body.len() <= MAX_REPORT_BYTES && report.values.len() <= MAX_REPORT_SERIES);
    for pair in report.values.windows(2) {
        assert!(pair[0].series < pair[1].series, "sorted, each once");
    }
    for value in &report.values {
        assert!(value.value.is_finite(), "{value:?}");
        let name = SeriesName::parse(&value.series).expect("a canonical name");
        assert_eq!(name.to_string(), value.series);
    }
    let texts = [&report.agent_version, &report.system];
    assert!(texts.iter().all(|text| text.chars().count() <= 200 && !text.chars().any(char::is_control)));
}
