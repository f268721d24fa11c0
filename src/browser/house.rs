//! The browsers of this process: where they live, how many there may be, and how one is had.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::binaries::{self, Binaries};
use super::fault::{self, launch};
use super::group::{self, Group};
use super::keeper::{Held, Keeper};
use super::profile::{self, Profile};
use super::user::Account;
use super::{BrowserKind, HouseConfig, Wish, chrome, firefox, processes};
use crate::model::{BrowserFacts, Failure, FailureKind};
use crate::net::{BlockedHosts, Deadline, Forward, ForwardRules, Net, Peers, TlsOptions};

/// A browser, ready to be told what to do.
#[derive(Debug)]
pub struct Opened {
    /// Tells it.
    pub client: Client,
    /// What it is.
    pub facts: BrowserFacts,
    /// Holds it.
    pub keeper: Keeper,
}

/// The browsers of this process; one is enough.
#[derive(Debug)]
pub struct House {
    config: HouseConfig,
    folder: PathBuf,
    places: Arc<Semaphore>,
    most: u32,
}

impl Default for House {
    fn default() -> Self {
        Self::new(HouseConfig::default())
    }
}

/// Whether the browser takes any certificate: where none is verified, and where the forward proxy does it
/// ([`House::rules`]).
pub(super) fn takes_any_certificate(wish: &Wish) -> bool {
    !wish.verify || bridges(wish)
}

/// Whether TLS to targets is spoken by the forward proxy.
fn bridges(wish: &Wish) -> bool {
    wish.ca.is_some() || wish.client_certificate.is_some()
}

impl House {
    /// Nothing is started or made yet.
    #[must_use]
    pub fn new(config: HouseConfig) -> Self {
        let total = config.total_memory_bytes.or_else(|| processes::memory_of_host().map(|bytes| bytes / 2));
        let places = total.unwrap_or(0) / config.memory_bytes.max(1);
        let most = u32::try_from(places.clamp(1, 1000)).unwrap_or(1);
        let own = || std::env::temp_dir().join(format!("vigie-browsers-{}", nix::unistd::geteuid()));
        let folder = config.folder.clone().unwrap_or_else(own);
        Self { config, folder, places: Arc::new(Semaphore::new(most as usize)), most }
    }

    /// How many browsers there may be at once.
    #[must_use]
    pub const fn most(&self) -> u32 {
        self.most
    }

    /// What the forward proxy of such a browser lets through.
    ///
    /// # Errors
    /// [`FailureKind::NotConfigured`] (95) for a user that does not exist.
    pub fn rules(&self, wish: &Wish, blocked: BlockedHosts) -> Result<ForwardRules, Failure> {
        let account = Account::named(self.config.user.as_deref())?;
        let tls = bridges(wish).then(|| TlsOptions {
            verify: wish.verify,
            ca: wish.ca,
            client_certificate: wish.client_certificate,
            ..TlsOptions::default()
        });
        Ok(ForwardRules {
            peers: Peers::User(account.user),
            family: wish.family,
            proxy: wish.proxy,
            blocked,
            tls,
            ..ForwardRules::default()
        })
    }

    /// Ends what an earlier process left behind, and removes its profiles; answers how many there were. Blocks.
    pub fn sweep(&self) -> usize {
        let Ok(forsaken) = Profile::forsaken(&self.folder) else { return 0 };
        let found = forsaken.len();
        for profile in forsaken {
            let token = profile.token().to_owned();
            if !group::end_forsaken(&profile) {
                tracing::warn!(profile = token, "processes of a browser do not end");
            }
            if let Err(error) = profile.remove() {
                tracing::warn!(profile = token, %error, "the profile of a browser cannot be removed");
            }
        }
        found
    }

    /// Waits until no browser is left; false when that takes longer than `patience`.
    pub async fn emptied(&self, patience: Duration) -> bool {
        tokio::time::timeout(patience, self.places.acquire_many(self.most)).await.is_ok()
    }

    /// Starts a driver and a browser with a fresh profile in a process group of their own, and opens a session. The
    /// caller serves `forward` meanwhile: the driver waits for the browser, which waits for its first requests.
    ///
    /// # Errors
    /// [`FailureKind::BrowserMissing`] (95) without such a browser or driver, or when they do not fit,
    /// [`FailureKind::NotConfigured`] (95) when they cannot be started as the settings say,
    /// [`FailureKind::BrowserTimedOut`] (89) when they are not ready in time, [`FailureKind::BrowserFailed`] (90)
    /// when they end or refuse.
    pub async fn open(
        &self,
        wish: &Wish,
        _net: &Net,
        forward: &Forward,
        deadline: Deadline,
    ) -> Result<Opened, Failure> {
        let binaries = binaries::find(&self.config, wish.kind)?;
        let account = Account::named(self.config.user.as_deref())?;
        let place = Arc::clone(&self.places).acquire_owned();
        let place =
            tokio::time::timeout_at(deadline.at, place).await.ok().and_then(Result::ok).ok_or_else(|| {
                let detail =
                    format!("the memory for browsers has room for {}, and none became free", self.most);
                launch(FailureKind::BrowserTimedOut, detail)
            })?;
        let within = Deadline::within(self.config.start.min(deadline.left()));
        let profile = self.profile(&account)?;
        let start = Start { house: self, wish, binaries: &binaries, account };
        let (group, tail) = start.driver(&profile)?;
        let here = chrome::Here { binaries: &binaries, profile: &profile, sandbox: start.sandbox() };
        let capabilities = match wish.kind {
            BrowserKind::Chrome => chrome::capabilities(wish, forward.address(), Some(&here)),
            _ => firefox::capabilities(wish, forward.address(), Some(&binaries)),
        };
        let held = Held { group: Some(group), profile, place };
        let mut keeper = Keeper::new(held, Some(tail), self.config.memory_bytes);
        let session = async {
            let port = start.port(&mut keeper).await?;
            let mut builder = ClientBuilder::new(HttpConnector::new());
            builder.capabilities(capabilities);
            let address = format!("http://127.0.0.1:{port}");
            let connecting = builder.connect(&address);
            let connected = tokio::select! {
                connected = connecting => connected,
                lost = keeper.lost() => return Err(lost),
            };
            let client = connected.map_err(|error| fault::of_session(&error, &keeper.printed()))?;
            let dressed = tokio::select! {
                dressed = self.dress(&client, wish) => dressed,
                lost = keeper.lost() => return Err(lost),
            };
            dressed.map_err(|error| fault::of_command(&error, &keeper.printed()))?;
            Ok(client)
        };
        let opened = tokio::time::timeout_at(within.at, session).await;
        let client = opened.unwrap_or_else(|_| {
            let detail = format!("not ready within {} s", within.timeout.as_secs_f32());
            Err(launch(FailureKind::BrowserTimedOut, fault::with_printed(&detail, &keeper.printed())))
        })?;
        let facts = facts(&client, wish);
        Ok(Opened { client, facts, keeper })
    }

    /// Gives the current window of `client` what holds for one window alone: its size, header fields of the guise, and
    /// that downloads are refused. [`Self::open`] did it for the first; a window that the page opened needs it anew.
    ///
    /// # Errors
    /// What the driver says.
    pub async fn dress(&self, client: &Client, wish: &Wish) -> Result<(), fantoccini::error::CmdError> {
        match wish.kind {
            BrowserKind::Chrome => chrome::dress(client, &wish.guise).await,
            BrowserKind::Firefox => firefox::dress(client, &wish.guise).await,
            BrowserKind::InternetExplorer => Ok(()),
        }
    }

    fn profile(&self, account: &Account) -> Result<Profile, Failure> {
        let folder = &self.folder;
        let made = profile::house(folder, account).and_then(|()| Profile::make(folder, account));
        made.map_err(|error| {
            let detail = format!("`browser.folder`: `{}` cannot be used: {error}", folder.display());
            launch(FailureKind::NotConfigured, detail)
        })
    }
}

/// How one browser is started.
struct Start<'a> {
    house: &'a House,
    wish: &'a Wish,
    binaries: &'a Binaries,
    account: Account,
}

impl Start<'_> {
    fn sandbox(&self) -> bool {
        self.house.config.sandbox && !self.account.is_root()
    }

    fn driver(&self, profile: &Profile) -> Result<(Group, super::tail::Tail), Failure> {
        let program = match self.wish.kind {
            BrowserKind::Chrome => chrome::program(self.binaries),
            _ => firefox::program(self.binaries, profile, &self.wish.guise),
        };
        Group::start(&program, profile, &self.account, self.house.config.nice).map_err(|error| {
            let detail = format!("`{}` cannot be started: {error}", shown(program.path));
            launch(FailureKind::BrowserFailed, detail)
        })
    }

    /// The port that the driver says it listens on.
    async fn port(&self, keeper: &mut Keeper) -> Result<u16, Failure> {
        let found = match self.wish.kind {
            BrowserKind::Chrome => chrome::port_in,
            _ => firefox::port_in,
        };
        while let Some(tail) = keeper.tail() {
            match tail.next().await {
                Some(line) => {
                    if let Some(port) = found(&line) {
                        return Ok(port);
                    }
                }
                None => break,
            }
        }
        let detail = format!("`{}` ended before it was ready", shown(&self.binaries.driver));
        Err(launch(FailureKind::BrowserFailed, fault::with_printed(&detail, &keeper.printed())))
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// What the driver says of itself and of the browser.
fn facts(client: &Client, wish: &Wish) -> BrowserFacts {
    let said = client.capabilities();
    let text = |name: &str| said.and_then(|said| said.get(name)).and_then(Value::as_str).unwrap_or_default();
    let driver = match wish.kind {
        BrowserKind::Chrome => {
            let own = said.and_then(|said| said.get("chrome")?.get("chromedriverVersion")?.as_str());
            format!("chromedriver {}", own.unwrap_or_default().split(' ').next().unwrap_or_default())
        }
        BrowserKind::Firefox => format!("geckodriver {}", text("moz:geckodriverVersion")),
        BrowserKind::InternetExplorer => String::new(),
    };
    BrowserFacts {
        name: wish.kind.name().to_owned(),
        version: text("browserVersion").to_owned(),
        driver: driver.trim().to_owned(),
        user_agent: wish.guise.user_agent.clone().unwrap_or_else(|| text("userAgent").to_owned()),
        viewport: wish.guise.viewport,
        trace_id: None,
        memory_bytes: None,
    }
}
