//! The user that browsers run as.

use nix::unistd::{User, getegid, geteuid};

use crate::domain::{Failure, FailureKind, Phase};

/// Users for browsers where this process runs as root; the first that exists.
const DEFAULT_NAMES: [&str; 2] = ["vigie-browser", "nobody"];

/// A user, by ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OsUser {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Whether this process runs as this user.
    pub(crate) is_current: bool,
}

impl OsUser {
    /// Returns the user that this process runs as.
    pub(crate) fn current() -> Self {
        Self { uid: geteuid().as_raw(), gid: getegid().as_raw(), is_current: true }
    }

    /// Returns the name of the user for browsers when this process runs as root and the settings name none: drivers
    /// accept commands from every local user, who must not become root by them. `None` for other users, and on a system
    /// without such a user.
    pub(crate) fn default_name() -> Option<&'static str> {
        let exists = |name: &&str| matches!(User::from_name(name), Ok(Some(_)));
        DEFAULT_NAMES.into_iter().find(exists).filter(|_| geteuid().is_root())
    }

    /// Finds the user `name` and its primary group; without a name, returns the current user.
    ///
    /// # Errors
    /// [`FailureKind::NotConfigured`] for an unknown name, and where this process may not become that user.
    pub(crate) fn lookup(name: Option<&str>) -> Result<Self, Failure> {
        let Some(name) = name else { return Ok(Self::current()) };
        let not_configured = |reason: &str| {
            let detail = format!("`browser.user`: {reason}");
            Failure::new(Phase::Launch, FailureKind::NotConfigured, detail)
        };
        let user = User::from_name(name).map_err(|errno| not_configured(errno.desc()))?;
        let user = user.ok_or_else(|| not_configured(&format!("user `{name}` does not exist")))?;
        let is_current = user.uid == geteuid();
        if !is_current && !geteuid().is_root() {
            return Err(not_configured(&format!("only root can start browsers as `{name}`")));
        }
        Ok(Self { uid: user.uid.as_raw(), gid: user.gid.as_raw(), is_current })
    }

    /// Whether this is root, for whom Chromium's sandbox does not work.
    pub(crate) fn is_root(self) -> bool {
        self.uid == 0
    }
}
