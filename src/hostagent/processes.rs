//! The number of processes, and those of given names.

use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System};

use super::measurements::Measurements;

/// Most names of processes.
pub const MAX_PROCESS_NAMES: usize = 32;
/// Longest name of a process that the kernel keeps, in bytes (proc(5), `comm`).
const MAX_KERNEL_NAME_BYTES: usize = 15;

/// Processes of one name together.
#[derive(Clone, Copy, Debug, Default)]
struct ProcessGroup {
    count: u32,
    cpu_percent: f64,
    memory_bytes: f64,
}

/// Reads the processes; their processor time counts from the reading before.
pub(super) fn refresh_processes(system: &mut System) {
    let kind = ProcessRefreshKind::nothing().with_cpu().with_memory().without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, kind);
}

/// Adds what the processes of each of `names` take together; zeros where there is none.
pub(super) fn measure_named_processes(system: &System, names: &[String], measurements: &mut Measurements) {
    for name in names {
        let mut group = ProcessGroup::default();
        for process in system.processes().values() {
            if process.thread_kind().is_none() && has_name(process.name().as_encoded_bytes(), name) {
                group.count += 1;
                group.cpu_percent += f64::from(process.cpu_usage());
                group.memory_bytes += process.memory() as f64;
            }
        }
        measurements.set_labelled("process_count", name, f64::from(group.count));
        measurements.set_labelled("process_cpu_percent", name, group.cpu_percent);
        measurements.set_labelled("process_memory_bytes", name, group.memory_bytes);
    }
}

/// Counts the processes: the folders in `/proc` whose name is a number.
pub(super) fn count_processes() -> Option<u32> {
    let entries = std::fs::read_dir("/proc").ok()?.flatten();
    let is_process = |name: &[u8]| !name.is_empty() && name.iter().all(u8::is_ascii_digit);
    let count = entries.filter(|entry| is_process(entry.file_name().as_encoded_bytes())).count();
    u32::try_from(count).ok()
}

/// Whether a process that the kernel calls `kernel_name` has the name `name`: the kernel keeps its beginning only.
fn has_name(kernel_name: &[u8], name: &str) -> bool {
    let name = name.as_bytes();
    kernel_name == name
        || name.len() > MAX_KERNEL_NAME_BYTES
            && kernel_name.len() == MAX_KERNEL_NAME_BYTES
            && name.starts_with(kernel_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_compared_as_far_as_the_kernel_keeps_them() {
        assert!(has_name(b"nginx", "nginx") && !has_name(b"nginx", "ngin") && !has_name(b"ngin", "nginx"));
        assert!(has_name(b"prometheus-node", "prometheus-node-exporter"));
        assert!(!has_name(b"prometheus-nod", "prometheus-node-exporter"));
    }

    #[test]
    fn processes_are_counted_with_their_memory() {
        let (mut system, mut measurements) = (System::new().unwrap(), Measurements::default());
        refresh_processes(&mut system);
        let own_name = std::fs::read_to_string("/proc/self/comm").unwrap().trim().to_owned();
        let names = [own_name.clone(), "no-such-process".to_owned()];
        measure_named_processes(&system, &names, &mut measurements);
        let value = |metric: &str, name: &str| measurements.values()[&format!("{metric}{{name=\"{name}\"}}")];
        assert!(value("process_count", &own_name) >= 1.0);
        assert!(value("process_memory_bytes", &own_name) > 1e6);
        for metric in ["process_count", "process_cpu_percent", "process_memory_bytes"] {
            assert!(value(metric, "no-such-process") < f64::EPSILON, "{metric}");
        }
        assert!(count_processes().unwrap() >= 1);
    }
}
