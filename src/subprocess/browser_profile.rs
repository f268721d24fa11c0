//! The folder of one browser: its profile, home and temporary files. While the browser runs, the process that started
//! it holds a lock file next to the folder, so that a later process can recognise orphaned folders.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, chown};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::os_user::OsUser;

/// Environment variable of all processes of a browser; its value is the name of the profile.
pub(crate) const PROFILE_ENV_VARIABLE: &str = "VIGIE_BROWSER";
/// Prefix of profile names; other entries of the folder are ignored.
const PROFILE_NAME_PREFIX: &str = "v-";
/// Suffix of the lock file of a profile.
const LOCK_SUFFIX: &str = ".lock";
/// Subfolders: home, temporary files, and the data of the browser.
const PROFILE_SUBDIRECTORIES: [&str; 3] = ["h", "t", "p"];

/// The folder of one browser.
#[derive(Debug)]
pub(crate) struct BrowserProfile {
    dir: PathBuf,
    name: String,
    held_lock: Option<Flock<File>>,
}

impl BrowserProfile {
    /// Creates a profile in `profiles_dir`, owned by `owner`.
    pub(crate) fn create(profiles_dir: &Path, owner: &OsUser) -> io::Result<Self> {
        let profile_name = format!("{PROFILE_NAME_PREFIX}{}", random_profile_suffix()?);
        let _lock = lock_profiles_dir(profiles_dir)?;
        let lock = lock_file(&lock_path(profiles_dir, &profile_name), FlockArg::LockExclusiveNonblock)?;
        let profile =
            Self { dir: profiles_dir.join(&profile_name), name: profile_name, held_lock: Some(lock) };
        let set_owner = |path: &Path| chown(path, Some(owner.uid), Some(owner.gid));
        DirBuilder::new().mode(0o700).create(&profile.dir)?;
        set_owner(&profile.dir)?;
        for subdirectory in PROFILE_SUBDIRECTORIES {
            DirBuilder::new().mode(0o700).create(profile.dir.join(subdirectory))?;
            set_owner(&profile.dir.join(subdirectory))?;
        }
        Ok(profile)
    }

    /// Returns the profiles in `profiles_dir` that no living process uses.
    pub(crate) fn find_orphans(profiles_dir: &Path) -> io::Result<Vec<Self>> {
        let _lock = lock_profiles_dir(profiles_dir)?;
        let mut orphans = Vec::new();
        for entry in fs::read_dir(profiles_dir)?.flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let profile_name = name.strip_suffix(LOCK_SUFFIX).unwrap_or(&name).to_owned();
            if !profile_name.starts_with(PROFILE_NAME_PREFIX)
                || orphans.iter().any(|orphan: &Self| orphan.name == profile_name)
            {
                continue;
            }
            // A lock that another process holds is the usual case, and not logged.
            if let Ok(lock) =
                lock_file(&lock_path(profiles_dir, &profile_name), FlockArg::LockExclusiveNonblock)
            {
                orphans.push(Self {
                    dir: profiles_dir.join(&profile_name),
                    name: profile_name,
                    held_lock: Some(lock),
                });
            }
        }
        Ok(orphans)
    }

    /// Environment entry of its processes.
    pub(crate) fn env_marker(&self) -> String {
        format!("{}={}", PROFILE_ENV_VARIABLE, self.name)
    }

    /// Unique name of the profile.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn home_dir(&self) -> PathBuf {
        self.dir.join("h")
    }

    pub(crate) fn temp_dir(&self) -> PathBuf {
        self.dir.join("t")
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.dir.join("p")
    }

    /// Removes the folder and everything in it. Its processes must have exited.
    pub(crate) fn remove(mut self) -> io::Result<()> {
        match fs::remove_dir_all(&self.dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let lock = self.dir.with_file_name(format!("{}{LOCK_SUFFIX}", self.name));
        fs::remove_file(lock)?;
        self.held_lock = None;
        Ok(())
    }
}

/// Creates the folder of the profiles, if missing, so that no other user can write to it.
pub(crate) fn create_profiles_dir(profiles_dir: &Path, browser_user: &OsUser) -> io::Result<()> {
    // Another user needs search permission to reach its own profile.
    let mode = if browser_user.is_current { 0o700 } else { 0o711 };
    match DirBuilder::new().mode(mode).recursive(false).create(profiles_dir) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let metadata = fs::symlink_metadata(profiles_dir)?;
    if !metadata.is_dir() || metadata.uid() != nix::unistd::geteuid().as_raw() || metadata.mode() & 0o022 != 0
    {
        return Err(io::Error::other("the folder is not owned by this user, or writable by others"));
    }
    Ok(())
}

fn lock_path(profiles_dir: &Path, profile_name: &str) -> PathBuf {
    profiles_dir.join(format!("{profile_name}{LOCK_SUFFIX}"))
}

/// Locks the folder of the profiles while a profile is created or orphans are searched: creation is not atomic.
fn lock_profiles_dir(profiles_dir: &Path) -> io::Result<Flock<File>> {
    lock_file(&profiles_dir.join("turn"), FlockArg::LockExclusive)
}

fn lock_file(path: &Path, mode: FlockArg) -> io::Result<Flock<File>> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    Flock::lock(file, mode).map_err(|(_, errno): (File, Errno)| errno.into())
}

fn random_profile_suffix() -> io::Result<String> {
    // Short, since the path of a socket below it must fit into 107 bytes.
    let mut bytes = [0_u8; 8];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| io::Error::other("no random numbers"))?;
    Ok(format!("{:010x}", u64::from_ne_bytes(bytes) >> 24))
}
