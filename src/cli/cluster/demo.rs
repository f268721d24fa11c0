//! Starts all parts of the demo, and ends them.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use aws_lc_rs::rand;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nix::sys::signal::Signal;
use serde_json::Value;
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::cluster_folder::ClusterFolder;
use super::member::{Member, Processes};
use super::programs::{Programs, command_as, give};
use super::set_up::{self, LOCATIONS, free_port};
use crate::cli::output;
use crate::cli::stop_signals::{StopSignal, StopSignals};
use crate::targets::{BuiltInTargetConfig, BuiltInTargets};

/// The controllers.
const CONTROLLERS: [&str; 2] = ["controller-1", "controller-2"];

/// Runs the demo in `folder` until a signal.
pub(super) async fn run(folder: ClusterFolder) -> anyhow::Result<ExitCode> {
    let programs = Programs::find(&folder)?;
    folder.create()?;
    let mut stop_signals = StopSignals::install()?;
    let mut stopped = std::pin::pin!(stop_signals.next());
    let mut demo = Demo {
        processes: Processes::new(folder.clone()),
        programs,
        folder: folder.clone(),
        targets: None,
        members: Vec::new(),
    };
    let started = tokio::select! {
        started = demo.start() => Ok(started),
        signal = &mut stopped => Err(signal),
    };
    let outcome = match started {
        Ok(Ok(text)) => match output::print(&text) {
            Ok(()) => demo.keep(stopped).await.map(|()| ExitCode::SUCCESS),
            Err(error) => Err(error.into()),
        },
        Ok(Err(error)) => Err(error),
        Err(signal) => Ok(ExitCode::from(signal.exit_code())),
    };
    // Those of a start that failed are killed here.
    drop(demo);
    folder.remove();
    outcome
}

struct Demo {
    folder: ClusterFolder,
    programs: Programs,
    processes: Processes,
    /// What the monitors check; they run in this process.
    targets: Option<BuiltInTargets>,
    /// In the order of their start.
    members: Vec<(Member, Child)>,
}

impl Demo {
    /// Starts everything; returns what to do with it.
    async fn start(&mut self) -> anyhow::Result<String> {
        self.programs.install_vigie()?;
        fs::create_dir(self.folder.join("logs"))?;
        let password_file = self.folder.join("store-password");
        write_password(&password_file)?;
        output::print_note("starting PostgreSQL and NATS");
        let postgres_port = self.start_postgres(&password_file).await?;
        give(&password_file, self.programs.other_user.as_ref())?;
        let nats_port = free_port()?;
        let (nats, keys) = set_up::init_nats(&self.programs, &self.folder, nats_port).await?;
        self.start_nats(&nats)?;
        let targets = BuiltInTargets::start(BuiltInTargetConfig::default()).await;
        let targets = targets.context("the built-in targets cannot start")?;
        output::print_note("starting the controllers");
        let mut urls = Vec::new();
        for name in CONTROLLERS {
            urls.push(self.start_controller(name, postgres_port, &password_file, &keys)?);
        }
        let first = self.folder.join(CONTROLLERS[0]);
        let (mut client, url) = (set_up::connect(&urls[0], &first).await?, urls[0].clone());
        output::print_note("enrolling the agents");
        let mut locations = Vec::new();
        let authority = self.folder.join("targets.pem");
        fs::write(&authority, targets.ca_pem())?;
        give(&authority, self.programs.other_user.as_ref())?;
        for (number, location) in LOCATIONS.into_iter().enumerate() {
            let name = format!("agent-{}", number + 1);
            let parts = (&self.programs, &self.folder);
            let id = set_up::enrol_agent(parts, (&mut client, &url), (&name, location)).await?;
            locations.push((id, location));
            self.start_agent(&name, &authority)?;
        }
        set_up::create_monitors(&mut client, &targets.addresses(), &locations).await?;
        let link: Value = client.post("sign-in-links", &Value::Null).await?;
        let link = url.join(link["path"].as_str().unwrap_or_default())?;
        self.targets = Some(targets);
        Ok(self.instructions(&urls, &link))
    }

    fn instructions(&self, urls: &[Url], link: &Url) -> String {
        let controllers: Vec<_> =
            CONTROLLERS.iter().zip(urls).map(|(name, url)| format!("  {name}  {url}\n")).collect();
        let agents = LOCATIONS.iter().enumerate();
        let agents: Vec<_> =
            agents.map(|(index, location)| format!("  agent-{}       {location}\n", index + 1)).collect();
        let (controllers, agents) = (controllers.concat(), agents.concat());
        format!(
            "\nThe cluster runs:\n\n{controllers}{agents}\nOpen the pages with this link (it works once, within 10 minutes):\n\n  {link}\n\n\
             Break it from another terminal, and look at the page again:\n\n  vigie cluster kill controller-1\n  vigie cluster kill agent-2\n  \
             vigie cluster kill nats\n  vigie cluster kill postgres\n\nLogs are in {}. Ctrl-C ends everything and removes the data.\n\n",
            self.folder.join("logs").display()
        )
    }

    /// Keeps all parts running until `stopped`, then ends them, the last one first.
    async fn keep(&mut self, stopped: impl Future<Output = StopSignal>) -> anyhow::Result<()> {
        let members = std::mem::take(&mut self.members);
        let stops: Vec<_> = members.iter().map(|_| CancellationToken::new()).collect();
        let kept = members
            .into_iter()
            .zip(&stops)
            .map(|((member, child), stop)| async move { member.keep(child, stop).await });
        let kept = futures::future::try_join_all(kept);
        let stop_all = async {
            stopped.await;
            output::print_note("ending all parts");
            // Agents and controllers first: they hand over what they have.
            for stop in stops.iter().rev() {
                stop.cancel();
                tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            }
        };
        let ((), kept) = tokio::join!(stop_all, kept);
        kept.map(drop)
    }

    fn add(
        &mut self,
        name: &str,
        stop_signal: Signal,
        command: impl Fn() -> Command + 'static,
    ) -> anyhow::Result<()> {
        let member = Member {
            name: name.to_owned(),
            log: self.folder.join("logs").join(format!("{name}.log")),
            stop_signal,
            command: Box::new(command),
            processes: self.processes.clone(),
        };
        let child = member.start()?;
        self.members.push((member, child));
        Ok(())
    }

    async fn start_postgres(&mut self, password_file: &Path) -> anyhow::Result<u16> {
        let data = set_up::init_postgres(&self.programs, &self.folder, password_file).await?;
        let (port, program) = (free_port()?, self.programs.postgres_folder.join("postgres"));
        let (user, folder) = (self.programs.postgres_user.clone(), self.folder.path().to_owned());
        // SIGINT ends it without waiting for its clients.
        self.add("postgres", Signal::SIGINT, move || {
            let mut command = command_as(user.as_ref(), &program);
            command.args(["-h", "127.0.0.1", "-p", &port.to_string(), "-k", ""]).arg("-D").arg(&data);
            command.current_dir(&folder);
            command
        })?;
        Ok(port)
    }

    fn start_nats(&mut self, nats: &Path) -> anyhow::Result<()> {
        let (user, program) = (self.programs.other_user.clone(), self.programs.nats.clone());
        let folder = nats.to_owned();
        self.add("nats", Signal::SIGTERM, move || {
            let mut command = command_as(user.as_ref(), &program);
            command.args(["-c", "nats.conf"]).current_dir(&folder);
            command
        })
    }

    fn start_controller(
        &mut self,
        name: &'static str,
        postgres_port: u16,
        password_file: &Path,
        keys: &Path,
    ) -> anyhow::Result<Url> {
        let (data, port) = (self.folder.join(name), free_port()?);
        set_up::init_controller(&self.programs, &data, keys)?;
        let (user, program) = (self.programs.other_user.clone(), self.programs.vigie.clone());
        let password_file = password_file.to_owned();
        self.add(name, Signal::SIGTERM, move || {
            let mut command = command_as(user.as_ref(), &program);
            command.args(["controller", "--name", name, "--listen", &format!("127.0.0.1:{port}")]);
            command.arg("--data").arg(&data);
            let database = format!("postgres://vigie@127.0.0.1:{postgres_port}/postgres?sslmode=disable");
            command.env("VIGIE_STORE_URL", database).env("VIGIE_STORE_PASSWORD_FILE", &password_file);
            command
        })?;
        Ok(Url::parse(&format!("http://127.0.0.1:{port}/"))?)
    }

    fn start_agent(&mut self, name: &str, authority: &Path) -> anyhow::Result<()> {
        let (user, program) = (self.programs.other_user.clone(), self.programs.vigie.clone());
        let (data, authority) = (self.folder.join(name), authority.to_owned());
        self.add(name, Signal::SIGTERM, move || {
            let mut command = command_as(user.as_ref(), &program);
            command.args(["agent", "run", "--data"]).arg(&data).env("VIGIE_TLS_CA_FILES", &authority);
            command
        })
    }
}

/// Writes a new password that only this user can read.
fn write_password(path: &Path) -> anyhow::Result<()> {
    let mut bytes = [0; 24];
    rand::fill(&mut bytes).context("the system has no random bytes")?;
    let password = URL_SAFE_NO_PAD.encode(bytes);
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{password}").with_context(|| format!("cannot write `{}`", path.display()))
}
