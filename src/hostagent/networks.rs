//! The traffic of the network interfaces of this host.

use std::collections::BTreeMap;
use std::time::Duration;

use sysinfo::Networks;

use super::measurements::Measurements;

/// Most interfaces of a report.
const MAX_INTERFACES: usize = 32;

/// What an interface has counted since it was set up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InterfaceCounters {
    received_bytes: u64,
    sent_bytes: u64,
    errors: u64,
}

/// The counters of each interface that counts, by its name.
pub(super) type NetworkCounters = BTreeMap<String, InterfaceCounters>;

/// Reads the counters of the interfaces that count.
pub(super) fn read_counters(networks: &Networks) -> NetworkCounters {
    let counted = networks.iter().filter_map(|(name, data)| {
        let name = name.to_str().filter(|name| is_counted(name))?;
        let errors = data.total_errors_on_received().saturating_add(data.total_errors_on_transmitted());
        let counters = InterfaceCounters {
            received_bytes: data.total_received(),
            sent_bytes: data.total_transmitted(),
            errors,
        };
        Some((name.to_owned(), counters))
    });
    // The first by name, which are the same from report to report.
    counted.collect::<NetworkCounters>().into_iter().take(MAX_INTERFACES).collect()
}

/// Adds the rates between two readings that are `elapsed` apart. An interface that is new, or whose counters began
/// again, has none.
pub(super) fn measure_rates(
    before: &NetworkCounters,
    now: &NetworkCounters,
    elapsed: Duration,
    measurements: &mut Measurements,
) {
    let seconds = elapsed.as_secs_f64();
    if seconds <= 0.0 {
        return;
    }
    for (name, now) in now {
        let Some(before) = before.get(name) else { continue };
        let rates = [
            ("network_received_bytes_per_second", before.received_bytes, now.received_bytes),
            ("network_sent_bytes_per_second", before.sent_bytes, now.sent_bytes),
            ("network_errors_per_second", before.errors, now.errors),
        ];
        for (metric, before, now) in rates {
            if let Some(increase) = now.checked_sub(before) {
                measurements.set_labelled(metric, name, increase as f64 / seconds);
            }
        }
    }
}

/// Whether an interface is one of the host: neither the loopback, nor the end of a container's connection.
fn is_counted(name: &str) -> bool {
    name != "lo" && !name.starts_with("veth")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(entries: &[(&str, u64, u64, u64)]) -> NetworkCounters {
        let entry = |(name, received_bytes, sent_bytes, errors): &(&str, u64, u64, u64)| {
            let counters = InterfaceCounters {
                received_bytes: *received_bytes,
                sent_bytes: *sent_bytes,
                errors: *errors,
            };
            ((*name).to_owned(), counters)
        };
        entries.iter().map(entry).collect()
    }

    #[test]
    fn rates_are_those_since_the_reading_before() {
        let before = counters(&[("eth0", 1000, 500, 1), ("eth1", 900, 5, 0)]);
        let now = counters(&[("eth0", 3000, 500, 2), ("eth1", 100, 10, 0), ("eth2", 9, 9, 9)]);
        let mut measurements = Measurements::default();
        measure_rates(&before, &now, Duration::from_secs(2), &mut measurements);
        let values: Vec<_> =
            measurements.values().iter().map(|(series, value)| format!("{series} {value}")).collect();
        // The counter of eth1 began again, and eth2 is new.
        assert_eq!(
            values,
            [
                "network_errors_per_second{interface=\"eth0\"} 0.5",
                "network_errors_per_second{interface=\"eth1\"} 0",
                "network_received_bytes_per_second{interface=\"eth0\"} 1000",
                "network_sent_bytes_per_second{interface=\"eth0\"} 0",
                "network_sent_bytes_per_second{interface=\"eth1\"} 2.5",
            ]
        );
        measure_rates(&before, &now, Duration::ZERO, &mut measurements);
        assert_eq!(measurements.values().len(), 5);
    }

    #[test]
    fn loopback_and_containers_are_left_out() {
        let counted = ["lo", "veth12ab", "eth0", "wlan0", "br-1", "lo0"].map(is_counted);
        assert_eq!(counted, [false, false, true, true, true, true]);
    }
}
