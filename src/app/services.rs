//! Wires the use cases behind the APIs (vault, accounts, monitors, records) and runs their periodic jobs.

use std::io::{IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio_util::sync::CancellationToken;

use super::combined_bus::CombinedBus;
use super::host_probe_builder::HostProbeBuilder;
use super::key_file::key_file_location;
use super::last_known_accounts::LastKnownAccounts;
use super::local_planner::{LocalPlanner, PlannerDependencies};
use super::report_sources::LocalReports;
use super::validation_context::instance_data;
use crate::api::ApiState;
use crate::catalog::{AccountCache, MonitorCache};
use crate::clock::Clock;
use crate::domain::ConfigRecordKind;
use crate::pipeline::{AccountDestinations, Ingestor};
use crate::service::agents::{AgentService, AgentServiceDependencies, TrustFile};
use crate::service::hosts::{HostService, HostServiceDependencies, PushService};
use crate::service::monitors;
use crate::service::{
    AccountService, AlertPipelineHandle, AlertService, AlertServiceDependencies, ConfigRecordService,
    ConfigRecordServiceDependencies, MonitorDependencies, MonitorReader, MonitorService,
    OnDemandTestDependencies, OnDemandTests, ResultShareDependencies, ResultShares, ServiceError,
    generate_password, open_keyring, reseal_all_secrets,
};
use crate::settings::Settings;
use crate::store::{
    AlertStore, ConfigRecordFilter, ConfigStore, HostStore, Outbox, Pagination, PushStore, ThrottleStore,
    TokenStore,
};
use crate::telemetry::{Metrics, TaskHeartbeat, fault_point};
use crate::vault::Keyring;

/// Name of the file with the password of the first admin, in the data directory.
const ADMIN_PASSWORD_FILE: &str = "admin-password";
/// Time between two ticks.
const TICK_INTERVAL: Duration = Duration::from_secs(1);
/// Ticks between two removals of expired tokens, tests and shares.
const PURGE_EVERY_TICKS: u64 = 600;

/// Dependencies of the services.
pub(super) struct ServiceInputs {
    pub(super) config_store: Arc<dyn ConfigStore>,
    pub(super) token_store: Arc<dyn TokenStore>,
    pub(super) throttle_store: Arc<dyn ThrottleStore>,
    pub(super) alert_store: Arc<dyn AlertStore>,
    pub(super) host_store: Arc<dyn HostStore>,
    pub(super) push_store: Arc<dyn PushStore>,
    pub(super) outbox: Arc<dyn Outbox>,
    pub(super) alert_pipeline_handle: Arc<dyn AlertPipelineHandle>,
    pub(super) monitor_cache: Arc<MonitorCache>,
    pub(super) monitor_reader: Arc<MonitorReader>,
    pub(super) bus: Arc<CombinedBus>,
    pub(super) probe_builder: Arc<HostProbeBuilder>,
    pub(super) last_known_accounts: Arc<LastKnownAccounts>,
    pub(super) ingestor: Arc<Ingestor>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) clock: Arc<dyn Clock>,
}

/// The use cases and their shared parts.
pub(super) struct Services {
    pub(super) api_state: ApiState,
    pub(super) planner: Arc<LocalPlanner>,
    pub(super) account_cache: Arc<AccountCache>,
    config_store: Arc<dyn ConfigStore>,
    keyring: Arc<Keyring>,
    key_file: PathBuf,
    trust_file: TrustFile,
}

impl Services {
    /// Opens the keys and wires everything. Loads no data yet.
    pub(super) async fn wire(settings: &Settings, inputs: ServiceInputs) -> anyhow::Result<Self> {
        let ServiceInputs {
            config_store,
            token_store,
            throttle_store,
            alert_store,
            host_store,
            push_store,
            outbox,
            alert_pipeline_handle,
            monitor_cache,
            monitor_reader,
            bus,
            probe_builder,
            last_known_accounts,
            ingestor,
            metrics,
            clock,
        } = inputs;
        let key_file_location = key_file_location(settings);
        let key_file = key_file_location.path.clone();
        let keyring = Arc::new(open_keyring(config_store.as_ref(), key_file_location).await?);
        let account_cache = Arc::new(AccountCache::new(Arc::clone(&config_store), instance_data(settings)));
        monitor_reader.set_account_data(
            Arc::clone(&account_cache),
            Arc::clone(&config_store),
            Arc::clone(&alert_store),
        );
        monitor_reader.set_host_store(Arc::clone(&host_store));
        probe_builder.set_keyring(Arc::clone(&keyring));
        let planner = Arc::new(LocalPlanner::new(PlannerDependencies {
            bus: bus.clone(),
            ingestor,
            monitor_cache: Arc::clone(&monitor_cache),
            account_cache: Arc::clone(&account_cache),
            last_known_accounts,
            clock: Arc::clone(&clock),
        }));
        bus.local().set_snapshot_source(planner.as_snapshot_source());
        let monitor_dependencies = MonitorDependencies {
            config_store: Arc::clone(&config_store),
            monitor_cache: Arc::clone(&monitor_cache),
            account_cache: Arc::clone(&account_cache),
            planner: planner.clone(),
            keyring: Arc::clone(&keyring),
            clock: Arc::clone(&clock),
        };
        let account_service = Arc::new(AccountService::new(
            Arc::clone(&config_store),
            token_store,
            Arc::clone(&throttle_store),
            Arc::clone(&keyring),
            Arc::clone(&clock),
        ));
        let record_dependencies = ConfigRecordServiceDependencies {
            config_store: Arc::clone(&config_store),
            host_store: Arc::clone(&host_store),
            monitor_cache: Arc::clone(&monitor_cache),
            account_cache: Arc::clone(&account_cache),
            keyring: Arc::clone(&keyring),
            planner: planner.clone(),
            account_service: Arc::clone(&account_service),
            metrics: Arc::clone(&metrics),
            clock: Arc::clone(&clock),
        };
        let alert_dependencies = AlertServiceDependencies {
            alert_store,
            outbox,
            config_store: Arc::clone(&config_store),
            alert_pipeline_handle,
            monitor_cache: Arc::clone(&monitor_cache),
            account_cache: Arc::clone(&account_cache),
            clock: Arc::clone(&clock),
        };
        let test_dependencies = OnDemandTestDependencies {
            config_store: Arc::clone(&config_store),
            monitor_cache: Arc::clone(&monitor_cache),
            account_cache: Arc::clone(&account_cache),
            planner: planner.clone(),
            clock: Arc::clone(&clock),
            retention: settings.store.retention.details_failed,
        };
        let share_dependencies = ResultShareDependencies {
            config_store: Arc::clone(&config_store),
            monitor_reader: Arc::clone(&monitor_reader),
            clock: Arc::clone(&clock),
        };
        let host_dependencies = HostServiceDependencies {
            config_store: Arc::clone(&config_store),
            host_store,
            push_store,
            monitor_cache: Arc::clone(&monitor_cache),
            account_cache: Arc::clone(&account_cache),
            clock: Arc::clone(&clock),
        };
        let trust_file = TrustFile::in_data_dir(&settings.data_dir);
        let agent_dependencies = AgentServiceDependencies {
            config_store: Arc::clone(&config_store),
            throttle_store: Arc::clone(&throttle_store),
            keyring: Arc::clone(&keyring),
            trust: trust_file.read(&keyring)?.map(Arc::new),
            clock: Arc::clone(&clock),
        };
        let state = ApiState {
            account_service,
            monitor_service: Arc::new(
                MonitorService::new(monitor_dependencies).with_last_run_lookup(planner.clone()),
            ),
            record_service: Arc::new(ConfigRecordService::new(record_dependencies)),
            agent_service: Arc::new(AgentService::new(agent_dependencies)),
            host_service: Arc::new(HostService::new(host_dependencies.clone())),
            push_service: Arc::new(PushService::new(host_dependencies, planner.clone())),
            alert_service: Arc::new(AlertService::new(alert_dependencies)),
            on_demand_tests: Arc::new(OnDemandTests::new(test_dependencies)),
            result_shares: Arc::new(ResultShares::new(share_dependencies)),
            monitor_reader,
            upload_permits: Arc::default(),
            clock,
        };
        probe_builder.set_report_source(Arc::new(LocalReports(Arc::clone(&state.host_service))));
        super::agent_overview::expose_agents(&bus, &state.record_service, &metrics);
        Ok(Self { api_state: state, planner, account_cache, config_store, keyring, key_file, trust_file })
    }

    /// Creates the first admin when there is no user yet. The password is read from `password_file`, or generated and
    /// printed on the terminal once; without a terminal it is written to a file of the `data_dir` directory.
    pub(super) async fn ensure_first_admin(
        &self,
        password_file: Option<&Path>,
        data_dir: &Path,
    ) -> anyhow::Result<()> {
        let first_only = Pagination { limit: 1, offset: 0 };
        let users =
            self.config_store.records(ConfigRecordFilter::new(ConfigRecordKind::User), first_only).await?;
        if users.total > 0 {
            return Ok(());
        }
        if let Some(password_file) = password_file {
            let error_context = || format!("cannot use `--admin-password-file {}`", password_file.display());
            let password = read_password(password_file).with_context(error_context)?;
            self.create_admin(password).await.with_context(error_context)?;
            tracing::info!(file = %password_file.display(), "created the first user `admin` with the password from the file");
        } else if std::io::stderr().is_terminal() {
            let password = generate_password();
            self.create_admin(password.clone()).await?;
            print_password(&password);
        } else {
            let (password, path) = (generate_password(), data_dir.join(ADMIN_PASSWORD_FILE));
            write_private_file(&path, &password)
                .with_context(|| format!("cannot write `{}`", path.display()))?;
            self.create_admin(password).await?;
            tracing::warn!(file = %path.display(), "created the first user `admin`; its password is in the file: delete the file once you know it");
        }
        Ok(())
    }

    async fn create_admin(&self, password: String) -> anyhow::Result<()> {
        match self.api_state.account_service.ensure_first_admin(Some(password)).await {
            Ok(_) => Ok(()),
            Err(ServiceError::Invalid(errors)) => {
                let messages: Vec<_> = errors.iter().map(ToString::to_string).collect();
                anyhow::bail!("{}", messages.join("; "))
            }
            Err(error) => anyhow::bail!("cannot create the first user: {error:?}"),
        }
    }

    /// Returns the lookup of destinations.
    pub(super) fn destinations(&self) -> AccountDestinations {
        let (account_cache, config_store) = (Arc::clone(&self.account_cache), Arc::clone(&self.config_store));
        AccountDestinations { account_cache, config_store, keyring: Arc::clone(&self.keyring) }
    }

    /// Returns the path of the key file.
    pub(super) fn key_file(&self) -> &Path {
        &self.key_file
    }

    /// Reloads the key file when it changed, and reseals all secrets in the background.
    pub(super) fn reload_keys(&self) {
        match self.keyring.reload() {
            Ok(false) => {}
            Ok(true) => {
                tracing::info!(file = %self.key_file.display(), "keys changed; re-encrypting secrets");
                let (config_store, keyring) = (Arc::clone(&self.config_store), Arc::clone(&self.keyring));
                if let Err(error) = self.trust_file.reseal(&keyring) {
                    tracing::error!(%error, "failed to re-encrypt the keys of NATS; the old keys are still needed");
                }
                tokio::spawn(async move {
                    match reseal_all_secrets(config_store.as_ref(), &keyring).await {
                        Ok(secrets) => tracing::info!(secrets, "secrets re-encrypted with the newest key"),
                        Err(error) => {
                            tracing::error!(error = %error, "failed to re-encrypt all secrets; the old keys are still needed");
                        }
                    }
                });
            }
            Err(error) => {
                tracing::error!(error = %error, "failed to read the key file; the previous keys stay in use");
            }
        }
    }

    async fn remove_expired(&self) {
        let outcomes = [
            self.api_state.account_service.remove_expired_tokens().await,
            self.api_state.on_demand_tests.remove_expired().await,
            self.api_state.result_shares.remove_expired().await,
        ];
        for error in outcomes.into_iter().filter_map(Result::err) {
            tracing::warn!(error = %error, "failed to remove expired tokens, tests and shares; the next run tries again");
        }
    }

    /// Runs periodic jobs until `stop`: resumes monitors, replans changed accounts, purges tokens.
    pub(super) async fn run_periodic_jobs(
        self: Arc<Self>,
        stop: CancellationToken,
        heartbeat: TaskHeartbeat,
    ) {
        let mut interval = tokio::time::interval(TICK_INTERVAL);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        for tick in 0_u64.. {
            heartbeat.mark_idle_for(TICK_INTERVAL);
            tokio::select! {
                () = stop.cancelled() => return,
                _ = interval.tick() => {}
            }
            heartbeat.watch(self.run_jobs(tick)).await;
        }
    }

    /// Runs the jobs that are due at `tick`, counted from the start.
    async fn run_jobs(&self, tick: u64) {
        if let Err(error) = fault_point("planner").await {
            tracing::warn!(error = %error, "failed to plan changed accounts; the next run tries again");
            return;
        }
        let monitor_service = &self.api_state.monitor_service;
        monitors::resume_due_monitors(monitor_service, self.api_state.clock.now()).await;
        if self.planner.replan_changed_accounts(monitor_service.monitor_cache()).await.is_err() {
            // A runner that has stopped ends the process, by itself or since it was told to.
            tracing::debug!("changed accounts are not planned: a runner has stopped");
        }
        if tick.is_multiple_of(PURGE_EVERY_TICKS) {
            self.remove_expired().await;
        }
    }
}

/// Reads the password from `file`, without the line break at its end.
fn read_password(file: &Path) -> anyhow::Result<String> {
    let text = crate::settings::read_config_text(file)
        .map_err(|reason| anyhow::anyhow!("`{}` {reason}", file.display()))?;
    let password = text.strip_suffix('\n').unwrap_or(&text);
    Ok(password.strip_suffix('\r').unwrap_or(password).to_owned())
}

/// Writes a new file that only this user can read.
fn write_private_file(path: &Path, password: &str) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{password}")?;
    file.sync_all()
}

#[expect(clippy::print_stderr, reason = "for the person at the terminal alone, never in a log")]
fn print_password(password: &str) {
    eprintln!("\nThe first user is `admin`, with the password {password}\nIt is shown this once.\n");
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_password_file_is_readable_by_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ADMIN_PASSWORD_FILE);
        std::fs::write(&path, "of somebody else").unwrap();
        write_private_file(&path, "s3cret").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(read_password(&path).unwrap(), "s3cret");
        assert!(
            read_password(&folder.path().join("gone")).unwrap_err().to_string().contains("cannot be read")
        );
    }
}
