//! Decoding of the stored newest report of a host, and of the pushes of a monitor.

use crate::domain::{HostId, HostReport, Push, PushState, PushStatus, SeriesValue, Timestamp};

use super::decode::{DecodeError, RowLocator};

/// A row of `host_states`: sequence, times, version, system, interval, values.
pub(in crate::store) type HostStateRow = (i64, i64, i64, String, String, i64, String);

/// Encodes values: a line each, the value before the series.
pub(in crate::store) fn encode_values(values: &[SeriesValue]) -> String {
    let lines: Vec<String> = values.iter().map(|value| format!("{} {}", value.value, value.series)).collect();
    lines.join("\n")
}

/// Decodes the newest report of a host.
pub(in crate::store) fn host_report_from_row(
    host_id: HostId,
    (sequence, measured_at, received_at, agent_version, system, interval_s, values): HostStateRow,
) -> Result<HostReport, DecodeError> {
    let key = [("host_id", host_id.0)];
    let locator = RowLocator { table: "host_states", key: &key };
    let decode_line = |line: &str| {
        let (value, series) = line.split_once(' ')?;
        Some(SeriesValue { series: series.to_owned(), value: value.parse().ok()? })
    };
    let values: Option<Vec<SeriesValue>> =
        values.lines().filter(|line| !line.is_empty()).map(decode_line).collect();
    Ok(HostReport {
        host_id,
        sequence: sequence.cast_unsigned(),
        measured_at: Timestamp::from_micros(measured_at),
        received_at: Timestamp::from_micros(received_at),
        agent_version,
        system,
        values: values.ok_or_else(|| locator.decode_error("reported_values", "a line without a number"))?,
        interval_s: locator.require_decoded("interval_s", interval_s, u32::try_from(interval_s).ok())?,
    })
}

/// A row of `push_states`: token time, start of the job, arrival, status, message, duration, exit code, output.
pub(in crate::store) type PushStateRow = (
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<String>,
    Option<i64>,
    Option<i64>,
    Option<String>,
);

/// Returns the stored code of a status.
pub(in crate::store) const fn push_status_code(status: PushStatus) -> i16 {
    match status {
        PushStatus::Up => 0,
        PushStatus::Down => 1,
        PushStatus::Started => 2,
    }
}

/// Decodes the pushes of a monitor.
pub(in crate::store) fn push_state_from_row(
    monitor_id: i64,
    (token_created_at, started_at, received_at, status, message, duration_us, exit_code, output): PushStateRow,
) -> Result<PushState, DecodeError> {
    let key = [("monitor_id", monitor_id)];
    let locator = RowLocator { table: "push_states", key: &key };
    let last = match received_at.zip(status) {
        None => None,
        Some((received_at, code)) => {
            let known = PushStatus::ALL.iter().map(|(status, _)| *status);
            let status = known.into_iter().find(|status| i64::from(push_status_code(*status)) == code);
            Some(Push {
                status: locator.require_decoded("status", code, status)?,
                received_at: Timestamp::from_micros(received_at),
                message: message.unwrap_or_default(),
                duration_us: duration_us.map(i64::cast_unsigned),
                exit_code: exit_code.and_then(|code| i32::try_from(code).ok()),
                output: output.unwrap_or_default(),
            })
        }
    };
    Ok(PushState {
        last,
        started_at: started_at.map(Timestamp::from_micros),
        token_created_at: token_created_at.map(Timestamp::from_micros),
    })
}
