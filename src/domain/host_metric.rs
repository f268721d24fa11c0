//! The metrics of hosts: the one table that the agent of a host, thresholds, documentation and OpenAPI share.

/// A metric that `vigie hostagent` reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostMetric {
    /// Name, as thresholds and reports use it.
    pub name: &'static str,
    /// Unit of its values.
    pub unit: MetricUnit,
    /// Name of the label that tells its series apart; `None` for a metric with one series.
    pub label: Option<&'static str>,
    /// What it measures, as one phrase.
    pub help: &'static str,
}

/// The unit of the values of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricUnit {
    /// A number without a unit.
    Count,
    /// Percent, from 0 to 100.
    Percent,
    /// Bytes.
    Bytes,
    /// Bytes per second, the mean since the report before.
    BytesPerSecond,
    /// Events per second, the mean since the report before.
    PerSecond,
    /// Seconds.
    Seconds,
    /// Degrees Celsius.
    Celsius,
}

impl MetricUnit {
    /// Returns its symbol; empty for a number without a unit.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Count => "",
            Self::Percent => "%",
            Self::Bytes => "B",
            Self::BytesPerSecond => "B/s",
            Self::PerSecond => "/s",
            Self::Seconds => "s",
            Self::Celsius => "°C",
        }
    }
}

macro_rules! host_metrics {
    ($($name:literal, $unit:ident, $label:expr, $help:literal;)+) => {
        /// Every metric, in the order of the documentation.
        pub static HOST_METRICS: &[HostMetric] = &[
            $(HostMetric { name: $name, unit: MetricUnit::$unit, label: $label, help: $help }),+
        ];
    };
}

host_metrics! {
    "load1", Count, None, "mean number of runnable tasks over 1 minute";
    "load5", Count, None, "mean number of runnable tasks over 5 minutes";
    "load15", Count, None, "mean number of runnable tasks over 15 minutes";
    "cpu_used_percent", Percent, None, "time of all processors that was not idle, since the report before";
    "cpu_count", Count, None, "number of processors";
    "memory_total_bytes", Bytes, None, "size of the memory";
    "memory_used_bytes", Bytes, None, "memory that is not available to programs";
    "memory_used_percent", Percent, None, "the same as a share of the whole";
    "swap_total_bytes", Bytes, None, "size of the swap space";
    "swap_used_bytes", Bytes, None, "swap space in use";
    "swap_used_percent", Percent, None, "the same as a share of the whole; 0 without swap space";
    "disk_total_bytes", Bytes, Some("mount"), "size of a file system";
    "disk_free_bytes", Bytes, Some("mount"), "space of a file system that users can still fill";
    "disk_used_percent", Percent, Some("mount"), "used share of the space that users can fill, as df shows it";
    "inodes_used_percent", Percent, Some("mount"), "used share of the inodes of a file system";
    "network_received_bytes_per_second", BytesPerSecond, Some("interface"), "data that an interface received";
    "network_sent_bytes_per_second", BytesPerSecond, Some("interface"), "data that an interface sent";
    "network_errors_per_second", PerSecond, Some("interface"), "errors of an interface in both directions";
    "processes", Count, None, "number of processes";
    "process_count", Count, Some("name"), "number of processes with a name that the agent was told to count";
    "process_cpu_percent", Percent, Some("name"), "processor time of such processes together; 100 is one processor";
    "process_memory_bytes", Bytes, Some("name"), "memory of such processes together";
    "temperature_celsius", Celsius, Some("sensor"), "temperature of a sensor";
    "uptime_seconds", Seconds, None, "time since the host was started";
}

/// Formats the value of a series, bytes in a larger unit such as `63.4 GB`; without a unit for metrics that are not in the
/// table.
#[must_use]
pub fn format_series_value(series: &str, value: f64) -> String {
    let name = series.split('{').next().unwrap_or_default();
    let Some(metric) = find_host_metric(name) else { return format_number(value) };
    let symbol = metric.unit.symbol();
    if !matches!(metric.unit, MetricUnit::Bytes | MetricUnit::BytesPerSecond) {
        return format!("{} {symbol}", format_number(value)).trim_end().to_owned();
    }
    let prefixes = ["", "k", "M", "G", "T", "P"];
    let (mut scaled, mut power) = (value, 0);
    while scaled.abs() >= 1000.0 && power + 1 < prefixes.len() {
        (scaled, power) = (scaled / 1000.0, power + 1);
    }
    let digits = usize::from(power > 0);
    format!("{scaled:.digits$} {}{symbol}", prefixes[power])
}

/// Returns the metric with this name.
#[must_use]
pub fn find_host_metric(name: &str) -> Option<&'static HostMetric> {
    HOST_METRICS.iter().find(|metric| metric.name == name)
}

/// Returns a number with at most three decimals.
#[must_use]
pub fn format_number(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_a_larger_unit_and_other_values_theirs() {
        assert_eq!(format_series_value("disk_free_bytes{mount=\"/\"}", 63_367_892_992.0), "63.4 GB");
        assert_eq!(format_series_value("network_sent_bytes_per_second{interface=\"a\"}", 999.0), "999 B/s");
        assert_eq!(format_series_value("cpu_used_percent", 24.49), "24.49 %");
        assert_eq!(format_series_value("load1", 1.5), "1.5");
        assert_eq!(format_series_value("up", 1.0), "1");
    }
}
