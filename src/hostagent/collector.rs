//! Measures this host, without privileges: what cannot be read is left out.

use std::collections::BTreeMap;
use std::time::Instant;

use sysinfo::{Components, CpuRefreshKind, MemoryRefreshKind, Networks, System};

use super::measurements::{Measurements, percent};
use super::mounts::measure_mounts;
use super::networks::{self, NetworkCounters};
use super::processes;

/// Most sensors of a report.
const MAX_SENSORS: usize = 32;

/// Measures this host. Rates are those since the measurement before.
pub struct Collector {
    system: System,
    networks: Option<Networks>,
    process_names: Vec<String>,
    network_counters: NetworkCounters,
    measured_at: Instant,
}

impl Collector {
    /// Creates a collector that also measures the processes of these names, at most
    /// [`MAX_PROCESS_NAMES`](processes::MAX_PROCESS_NAMES). Takes the readings that the first rates count from.
    ///
    /// # Errors
    /// Fails when nothing can be measured on this kind of system.
    pub fn new(process_names: &[String]) -> Result<Self, sysinfo::Error> {
        let mut system = System::new()?;
        system.refresh_cpu_specifics(CpuRefreshKind::nothing().with_usage());
        let process_names: Vec<_> =
            process_names.iter().take(processes::MAX_PROCESS_NAMES).cloned().collect();
        if !process_names.is_empty() {
            processes::refresh_processes(&mut system);
        }
        let networks = Networks::new_with_refreshed_list().ok();
        let network_counters = networks.as_ref().map(networks::read_counters).unwrap_or_default();
        Ok(Self { system, networks, process_names, network_counters, measured_at: Instant::now() })
    }

    /// Measures the host.
    pub fn measure(&mut self) -> Measurements {
        let mut measurements = Measurements::default();
        self.measure_load_and_cpu(&mut measurements);
        self.measure_memory(&mut measurements);
        if let Ok(mount_info) = std::fs::read_to_string("/proc/self/mountinfo") {
            measure_mounts(&mount_info, &mut measurements);
        }
        self.measure_networks(&mut measurements);
        if let Some(count) = processes::count_processes() {
            measurements.set("processes", f64::from(count));
        }
        if !self.process_names.is_empty() {
            processes::refresh_processes(&mut self.system);
            processes::measure_named_processes(&self.system, &self.process_names, &mut measurements);
        }
        measure_temperatures(&mut measurements);
        if let Ok(uptime) = System::uptime() {
            measurements.set("uptime_seconds", uptime as f64);
        }
        measurements
    }

    fn measure_load_and_cpu(&mut self, measurements: &mut Measurements) {
        if let Ok(load) = System::load_average() {
            measurements.set("load1", load.one);
            measurements.set("load5", load.five);
            measurements.set("load15", load.fifteen);
        }
        self.system.refresh_cpu_specifics(CpuRefreshKind::nothing().with_usage());
        let cpu_count = self.system.cpus().len();
        if cpu_count > 0 {
            measurements.set("cpu_count", cpu_count as f64);
            let used = f64::from(self.system.global_cpu_usage());
            measurements.set("cpu_used_percent", used.clamp(0.0, 100.0));
        }
    }

    fn measure_memory(&mut self, measurements: &mut Measurements) {
        self.system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram().with_swap());
        let total = self.system.total_memory() as f64;
        if total > 0.0 {
            let used = total - (self.system.available_memory() as f64).min(total);
            measurements.set("memory_total_bytes", total);
            measurements.set("memory_used_bytes", used);
            measurements.set("memory_used_percent", percent(used, total));
            let (swap, used_swap) = (self.system.total_swap() as f64, self.system.used_swap() as f64);
            measurements.set("swap_total_bytes", swap);
            measurements.set("swap_used_bytes", used_swap);
            measurements.set("swap_used_percent", percent(used_swap, swap));
        }
    }

    fn measure_networks(&mut self, measurements: &mut Measurements) {
        let Some(networks) = &mut self.networks else { return };
        networks.refresh(true);
        let (counters, now) = (networks::read_counters(networks), Instant::now());
        let elapsed = now.duration_since(self.measured_at);
        networks::measure_rates(&self.network_counters, &counters, elapsed, measurements);
        (self.network_counters, self.measured_at) = (counters, now);
    }
}

/// Adds the temperature of each sensor; of several with the same name, the highest.
fn measure_temperatures(measurements: &mut Measurements) {
    let Ok(components) = Components::new_with_refreshed_list() else { return };
    let mut by_sensor: BTreeMap<&str, f64> = BTreeMap::new();
    for component in &components {
        if let Some(temperature) = component.temperature().filter(|temperature| temperature.is_finite()) {
            let highest = by_sensor.entry(component.label()).or_insert(f64::NEG_INFINITY);
            *highest = highest.max(f64::from(temperature));
        }
    }
    for (sensor, temperature) in by_sensor.into_iter().take(MAX_SENSORS) {
        measurements.set_labelled("temperature_celsius", sensor, temperature);
    }
}
