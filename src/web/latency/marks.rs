//! The marks of the charts: what happened around the monitor.

use crate::domain::{Permission, StoreError, Timestamp};
use crate::schema::Monitor;
use crate::service::{MarkKind, MonitorMark};
use crate::texts::Locale;
use crate::web::page_state::PageState;
use crate::web::viewer::Viewer;

/// A mark, as shown.
pub(super) struct MarkView {
    pub(super) kind: &'static str,
    /// Milliseconds since 1970.
    pub(super) from_ms: i64,
    pub(super) until_ms: i64,
    pub(super) time: String,
    pub(super) text: String,
}

impl MarkView {
    fn new(mark: &MonitorMark, t: Locale) -> Self {
        let ms = |time: Timestamp| time.as_micros().div_euclid(1_000);
        let from = t.time(mark.from);
        Self {
            kind: mark.kind.as_str(),
            from_ms: ms(mark.from),
            until_ms: ms(mark.until.unwrap_or(mark.from)),
            time: mark.until.map_or(from.clone(), |until| {
                t.fill("{from} to {until}", &[("from", &from), ("until", &t.time(until))])
            }),
            text: mark.text.clone(),
        }
    }
}

/// Reads the marks of `monitor` in `from..until`. Those who don't belong to its account see none.
pub(super) async fn load_marks(
    state: &PageState,
    monitor: &Monitor,
    viewer: &Viewer,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<MarkView>, StoreError> {
    let caller = viewer.caller_for(monitor.customer);
    if !caller.is_some_and(|caller| caller.allows(Permission::View)) {
        return Ok(Vec::new());
    }
    let marks = state.monitor_reader.marks(monitor, from, until).await?;
    Ok(marks.iter().map(|mark| MarkView::new(mark, viewer.locale())).collect())
}

/// Returns how many marks of which kind there are, such as `2 events, 1 blackout`.
pub(super) fn marks_summary(marks: &[MarkView], t: Locale) -> String {
    let count_of = |kind: MarkKind| marks.iter().filter(|mark| mark.kind == kind.as_str()).count() as u64;
    let counts = [MarkKind::Event, MarkKind::Blackout, MarkKind::Change].map(count_of);
    let [events, blackouts, changes] = counts;
    let texts = [
        t.count("{count} event", "{count} events", events),
        t.count("{count} blackout", "{count} blackouts", blackouts),
        t.count("{count} change", "{count} changes", changes),
    ];
    let present = texts.into_iter().zip(counts).filter(|(_, count)| *count > 0);
    present.map(|(text, _)| text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_counted_by_kind() {
        let mark = |kind| MonitorMark {
            kind,
            from: Timestamp::from_seconds(60),
            until: (kind == MarkKind::Blackout).then_some(Timestamp::from_seconds(120)),
            text: "x".to_owned(),
        };
        let marks = [MarkKind::Change, MarkKind::Blackout, MarkKind::Change];
        let marks = marks.map(|kind| MarkView::new(&mark(kind), Locale::default()));
        assert_eq!(marks_summary(&marks, Locale::default()), "1 blackout, 2 changes");
        assert_eq!(marks_summary(&[], Locale::default()), "");
        assert_eq!((marks[0].from_ms, marks[0].until_ms), (60_000, 60_000));
        assert_eq!(marks[1].time, "1970-01-01 00:01:00 to 1970-01-01 00:02:00");
    }
}
