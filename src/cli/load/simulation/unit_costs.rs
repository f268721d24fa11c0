//! What a unit of load costs.

use serde::Serialize;

/// Unit costs that the command measures on its host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct MeasuredCosts {
    /// Processor time of an agent for one check, in microseconds.
    pub(super) agent_cpu_us: f64,
    /// Bytes of a result that waits: on an agent, or in NATS.
    pub(super) waiting_bytes: f64,
    /// Memory of a planned monitor, in bytes, of an agent as of a controller.
    pub(super) monitor_bytes: f64,
}

/// Unit costs that it takes from the manual.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct TakenCosts {
    /// Processor time of the control plane for one result, in microseconds.
    pub(super) control_cpu_us: f64,
    /// Results that the controller that leads stores a second.
    pub(super) stored_per_second: f64,
    /// Bytes that NATS receives and sends for one check, heartbeats included.
    pub(super) bus_bytes: f64,
    /// Bytes of a stored result in the database, indexes included.
    pub(super) stored_bytes: f64,
    /// Memory of a controller for one idle agent, in bytes.
    pub(super) agent_bytes: f64,
    /// Monitors that agents are assigned a second, after a start of all of them.
    pub(super) assigned_per_second: f64,
}

/// All unit costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct UnitCosts {
    pub(super) measured: MeasuredCosts,
    pub(super) taken: TakenCosts,
}

/// Those of `tcp` monitors over PostgreSQL on machine A of the manual (benchmarks.md, growth.md).
pub(super) const OF_MANUAL: UnitCosts = UnitCosts {
    measured: MeasuredCosts { agent_cpu_us: 244.0, waiting_bytes: 140.0, monitor_bytes: 1_140.0 },
    taken: TakenCosts {
        control_cpu_us: 127.0,
        stored_per_second: 16_000.0,
        bus_bytes: 334.0,
        stored_bytes: 227.0,
        agent_bytes: 24_000.0,
        assigned_per_second: 22_700.0,
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The page that explains the arithmetic.
    const PAGE: &str = include_str!("../../../manual/growth.md");

    #[test]
    fn the_page_has_the_figures_that_the_command_uses() {
        let rows = [
            ("CPU of an agent per check", format!("{} µs", OF_MANUAL.measured.agent_cpu_us)),
            ("CPU of the control plane per result", format!("{} µs", OF_MANUAL.taken.control_cpu_us)),
            ("results stored a second", "16,000".to_owned()),
            ("bytes on the bus per check", OF_MANUAL.taken.bus_bytes.to_string()),
            ("bytes of a waiting result", OF_MANUAL.measured.waiting_bytes.to_string()),
            ("bytes of a stored result", OF_MANUAL.taken.stored_bytes.to_string()),
            ("memory of a planned monitor", format!("{} kB", OF_MANUAL.measured.monitor_bytes / 1e3)),
            ("memory of a controller per agent", format!("{} kB", OF_MANUAL.taken.agent_bytes / 1e3)),
            ("monitors assigned a second", "22,700".to_owned()),
        ];
        for (what, figure) in rows {
            let row = PAGE.lines().find(|line| line.starts_with(&format!("| {what} |")));
            let row = row.unwrap_or_else(|| panic!("the page has no row for {what}"));
            assert!(row.contains(&format!("| {figure} |")), "{row} does not say {figure}");
        }
        assert_eq!(
            (OF_MANUAL.taken.stored_per_second, OF_MANUAL.taken.assigned_per_second),
            (16_000.0, 22_700.0)
        );
    }
}
