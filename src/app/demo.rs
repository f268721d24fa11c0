//! `vigie serve --demo`: built-in targets on loopback, and monitors for them.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::net::Pem;
use crate::settings::Settings;
use crate::targets::{BuiltInTargetAddresses, BuiltInTargetConfig, BuiltInTargets};

const MONITORS_TEMPLATE: &str = include_str!("../../config/demo/monitors.yaml");

/// The running targets, with a directory that is removed on drop.
pub(super) struct Demo {
    targets: BuiltInTargets,
    temp_folder: PathBuf,
}

impl Demo {
    /// Starts the targets and writes their monitors.
    pub(super) async fn start() -> anyhow::Result<Self> {
        let outcome = BuiltInTargets::start(BuiltInTargetConfig::default()).await;
        let targets = outcome.context("the built-in targets of the demo cannot start")?;
        let folder = create_private_folder().context("cannot create the directory of the demo")?;
        let demo = Self { targets, temp_folder: folder };
        let yaml = monitors_yaml(&demo.targets.addresses());
        fs::write(demo.monitors_path(), yaml).context("the monitors of the demo cannot be written")?;
        Ok(demo)
    }

    /// Adds the demo's monitors to `settings`. If no data directory is set, the data are removed when
    /// the demo ends.
    pub(super) fn apply_to(&self, settings: &mut Settings) {
        if !settings.monitor_paths_are_set {
            settings.monitor_paths.clear();
        }
        settings.monitor_paths.push(self.monitors_path());
        settings.monitor_paths_are_set = true;
        if !settings.data_dir_is_set {
            settings.data_dir = self.temp_folder.join("data");
            settings.store.location = None;
        }
        let ca_pem = self.targets.ca_pem().as_bytes().to_vec();
        let label = "the authority of the demo".to_owned();
        settings.net.trust_config.additional_authorities.push(Pem { label, text: ca_pem });
        if !settings.billing_plans.is_empty() {
            settings.billing_plans.push(crate::schema::validation_context::BillingPlan {
                code: "demo".to_owned(),
                monitor_types: Vec::new(),
                min_interval_minutes: 1,
                max_monitors: None,
                monitor_count: 0,
                max_locations: None,
            });
        }
    }

    fn monitors_path(&self) -> PathBuf {
        self.temp_folder.join("monitors.yaml")
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.temp_folder) {
            let file = self.temp_folder.display();
            tracing::warn!(file = %file, error = %error, "failed to remove the folder of the demo");
        }
    }
}

/// Returns the monitors of the demo with the addresses of its targets.
fn monitors_yaml(addresses: &BuiltInTargetAddresses) -> String {
    MONITORS_TEMPLATE
        .replace("127.0.0.1:8080", &addresses.http.to_string())
        .replace("127.0.0.1:8443", &addresses.https.to_string())
        .replace("port: 8025", &format!("port: {}", addresses.tcp.port()))
        .replace("port: 8053", &format!("port: {}", addresses.dns.port()))
}

/// Creates a new directory that only this user can read. Existing names are left alone.
fn create_private_folder() -> io::Result<PathBuf> {
    let parent = std::env::temp_dir();
    let mut last_error = io::Error::from(io::ErrorKind::AlreadyExists);
    for attempt in 0..100 {
        let folder = parent.join(format!("vigie-demo-{}-{attempt}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last_error = error,
            Err(error) => return Err(error_with_path(&folder, &error)),
        }
    }
    Err(error_with_path(&parent, &last_error))
}

fn error_with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::app::read_monitors;
    use crate::settings::SettingSources;

    #[tokio::test]
    async fn the_demo_monitors_all_five_types_and_leaves_nothing_behind() {
        let demo = Demo::start().await.unwrap();
        let mut settings = Settings::load(&SettingSources::default()).unwrap();
        demo.apply_to(&mut settings);
        let monitors = read_monitors(&settings).unwrap();
        let kinds: BTreeSet<_> =
            monitors.iter().map(|monitor| monitor.document.monitor_type().name()).collect();
        assert_eq!(
            kinds.into_iter().collect::<Vec<_>>(),
            ["name-server", "ping", "tcp", "website", "website-ssl"]
        );
        assert!(
            monitors
                .iter()
                .all(|m| m.warnings.is_empty() && m.document.settings().schedule.interval_minutes == 1)
        );
        let folder = demo.temp_folder.clone();
        assert!(settings.data_dir.starts_with(&folder) && folder.exists());
        drop(demo);
        assert!(!folder.exists());
    }
}
