//! The file systems of this host: which mounts count, and how full they are.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nix::sys::statvfs::statvfs;

use super::measurements::{Measurements, percent};

/// Most mounts of a report.
const MAX_MOUNTS: usize = 64;

/// File systems on a disk of this host that is not named by a path below `/dev`.
const LOCAL_FILE_SYSTEMS: [&str; 4] = ["zfs", "bcachefs", "ubifs", "jffs2"];
/// File systems in memory, and images, which are always full.
const UNCOUNTED_FILE_SYSTEMS: [&str; 7] =
    ["tmpfs", "devtmpfs", "ramfs", "squashfs", "iso9660", "udf", "erofs"];

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// Whether it is mounted with its root, not with a folder in it, as bind mounts are.
    has_root: bool,
}

/// Adds the space of each mounted file system. One that cannot be read is left out.
pub(super) fn measure_mounts(mount_info: &str, measurements: &mut Measurements) {
    for mount in counted_mounts(mount_info) {
        let (Some(name), Ok(space)) = (mount.mount_point.to_str(), statvfs(&mount.mount_point)) else {
            continue;
        };
        let block_bytes = space.fragment_size() as f64;
        let (blocks, free, available) =
            (space.blocks() as f64, space.blocks_free() as f64, space.blocks_available() as f64);
        if blocks <= 0.0 {
            continue;
        }
        measurements.set_labelled("disk_total_bytes", name, blocks * block_bytes);
        measurements.set_labelled("disk_free_bytes", name, available * block_bytes);
        // What is reserved for root counts neither as used nor as available, as df has it.
        let used = blocks - free;
        measurements.set_labelled("disk_used_percent", name, percent(used, used + available));
        let (inodes, free_inodes) = (space.files() as f64, space.files_free() as f64);
        // Some file systems, such as btrfs, have no fixed number of inodes.
        if inodes > 0.0 {
            measurements.set_labelled("inodes_used_percent", name, percent(inodes - free_inodes, inodes));
        }
    }
}

/// Returns the mounts that count, in the order of their mount points: file systems on disks of this host, each once.
/// Network file systems are left out, since asking one whose server is gone blocks for ever.
pub(super) fn counted_mounts(mount_info: &str) -> Vec<Mount> {
    let mut mounts_by_device: BTreeMap<&str, Mount> = BTreeMap::new();
    for (device, mount) in mount_info.lines().filter_map(parse_mount) {
        let preference = |mount: &Mount| (!mount.has_root, mount.mount_point.as_os_str().len());
        match mounts_by_device.get(device) {
            Some(known) if preference(known) <= preference(&mount) => {}
            _ => {
                mounts_by_device.insert(device, mount);
            }
        }
    }
    let mut mounts: Vec<_> = mounts_by_device.into_values().collect();
    mounts.sort_by(|one, other| one.mount_point.cmp(&other.mount_point));
    mounts.truncate(MAX_MOUNTS);
    mounts
}

/// Parses a line of `/proc/self/mountinfo` (proc(5)): id, parent, device, root, mount point, options, optional fields
/// up to `-`, type, source, options. Returns the device with the mount; `None` for one that does not count.
fn parse_mount(line: &str) -> Option<(&str, Mount)> {
    let (mount_fields, file_system_fields) = line.split_once(" - ")?;
    let mut fields = mount_fields.split(' ').skip(2);
    let (device, root, mount_point) = (fields.next()?, fields.next()?, fields.next()?);
    let mut fields = file_system_fields.split(' ');
    let (file_system, source) = (fields.next()?, fields.next()?);
    let mount_point = unescape(mount_point);
    let is_local = source.starts_with("/dev/") && source != "/dev/fuse"
        || LOCAL_FILE_SYSTEMS.contains(&file_system)
        // The root of a container.
        || file_system == "overlay" && mount_point == "/";
    if !is_local || UNCOUNTED_FILE_SYSTEMS.contains(&file_system) || is_file_of_container(&mount_point) {
        return None;
    }
    Some((device, Mount { mount_point: mount_point.into(), has_root: root == "/" }))
}

/// Whether it is one of the files that container engines mount one by one.
fn is_file_of_container(mount_point: &str) -> bool {
    matches!(mount_point, "/etc/hosts" | "/etc/hostname" | "/etc/resolv.conf")
}

/// Decodes the octal escapes of blanks and backslashes: `\040` is a space.
fn unescape(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        decoded.push_str(plain);
        let code = escaped.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        if let Some(code) = code.filter(u8::is_ascii) {
            decoded.push(char::from(code));
            rest = &escaped[3..];
        } else {
            decoded.push('\\');
            rest = escaped;
        }
    }
    decoded + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNT_INFO: &str = r"21 26 0:19 / /sys rw,nosuid shared:7 - sysfs sysfs rw
22 26 0:5 / /proc rw - proc proc rw
23 26 254:0 /var/lib/private/x /var/lib/x rw,relatime shared:1 - ext4 /dev/vda1 rw
26 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
27 26 254:0 / /mnt/again rw,relatime - ext4 /dev/vda1 rw
28 26 0:24 / /run rw - tmpfs tmpfs rw
29 26 0:50 / /var/lib/docker/overlay2/a/merged rw - overlay overlay rw,lowerdir=/x
30 26 7:1 / /snap/core/1 ro - squashfs /dev/loop1 ro
31 26 0:60 / /net/share rw - nfs4 server:/share rw
32 26 0:61 / /tank rw - zfs tank rw
33 26 254:16 /folder /srv/with\040space\134 rw master:3 propagate_from:2 - xfs /dev/vdb rw
34 26 0:70 / /dev/shm rw - tmpfs /dev/shm rw
broken
35 26 8:1
";

    #[test]
    fn each_disk_of_this_host_counts_once() {
        let mounts = counted_mounts(MOUNT_INFO);
        let mount_points: Vec<_> = mounts.iter().map(|mount| mount.mount_point.to_str().unwrap()).collect();
        assert_eq!(mount_points, ["/", "/srv/with space\\", "/tank"]);
    }

    #[test]
    fn the_root_of_a_container_counts() {
        let info = "1 0 0:40 / / rw - overlay overlay rw,lowerdir=/x\n2 1 254:0 /var/c/hosts /etc/hosts rw - ext4 /dev/vda rw\n";
        let mounts = counted_mounts(info);
        assert_eq!(mounts.len(), 1);
        assert_eq!(mounts[0].mount_point.to_str(), Some("/"));
    }

    #[test]
    fn the_number_of_mounts_is_bounded() {
        let line = |n: u32| format!("{n} 1 8:{n} / /m{n} rw - ext4 /dev/sd{n} rw");
        let info = (0..200).map(line).collect::<Vec<_>>().join("\n");
        assert_eq!(counted_mounts(&info).len(), MAX_MOUNTS);
    }

    #[test]
    fn the_space_of_this_host_is_plausible() {
        let mut measurements = Measurements::default();
        measure_mounts("26 1 254:0 / / rw - ext4 /dev/vda1 rw", &mut measurements);
        let value = |metric: &str| measurements.values()[&format!("{metric}{{mount=\"/\"}}")];
        assert!(value("disk_total_bytes") > value("disk_free_bytes"));
        assert!((0.0..=100.0).contains(&value("disk_used_percent")));
        measure_mounts("26 1 254:0 / /does/not/exist rw - ext4 /dev/vda1 rw", &mut measurements);
        assert!(measurements.values().keys().all(|series| series.contains("\"/\"")));
    }
}
