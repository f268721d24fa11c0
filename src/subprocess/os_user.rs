//! The user that browsers run as.

use nix::unistd::{User, getegid, geteuid};

use crate::domain::{Failure, FailureKind, Phase};

/// A user, by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OsUser {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Whether it is the one that this process runs as.
    pub(crate) is_current: bool,
}

impl OsUser {
    /// The user that this process runs as.
    pub(crate) fn current() -> Self {
        Self { uid: geteuid().as_raw(), gid: getegid().as_raw(), is_current: true }
    }

    /// The user called `name`, with its first group; the own one without a name.
    ///
    /// # Errors
    /// [`FailureKind::NotConfigured`] for a name that nobody has, and where this process may not become that user.
    pub(crate) fn lookup(name: Option<&str>) -> Result<Self, Failure> {
        let Some(name) = name else { return Ok(Self::current()) };
        let failed = |reason: &str| {
            let detail = format!("`browser.user`: {reason}");
            Failure::new(Phase::Launch, FailureKind::NotConfigured, detail)
        };
        let found = User::from_name(name).map_err(|errno| failed(errno.desc()))?;
        let found = found.ok_or_else(|| failed(&format!("there is no user `{name}`")))?;
        let is_own = found.uid == geteuid();
        if !is_own && !geteuid().is_root() {
            return Err(failed(&format!("only root can start browsers as `{name}`")));
        }
        Ok(Self { uid: found.uid.as_raw(), gid: found.gid.as_raw(), is_current: is_own })
    }

    /// Whether it may do everything: Chromium's sandbox does not work then.
    pub(crate) fn is_root(self) -> bool {
        self.uid == 0
    }
}
