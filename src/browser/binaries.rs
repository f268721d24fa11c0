//! Finds the browsers and drivers of this host.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::config::BrowserPoolConfig;
use super::session_options::BrowserKind;
use crate::domain::{Failure, FailureKind, Phase};

/// A browser with its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BrowserBinaries {
    pub(super) browser_path: PathBuf,
    pub(super) driver_path: PathBuf,
}

/// A program to look for: its setting with the value, its names in `PATH`, and its Debian package.
struct ProgramLookup<'a> {
    setting: &'static str,
    configured_path: Option<&'a Path>,
    names_in_path: &'static [&'static str],
    install_hint: &'static str,
}

/// Returns the browser of this `kind` and its driver.
///
/// # Errors
/// Fails with [`FailureKind::BrowserNotInstalled`] (95), naming what to install.
pub(super) fn find_binaries(
    config: &BrowserPoolConfig,
    kind: BrowserKind,
) -> Result<BrowserBinaries, Failure> {
    let (browser, driver) = match kind {
        BrowserKind::Chrome => (
            ProgramLookup {
                setting: "browser.chromium",
                configured_path: config.chromium.as_deref(),
                names_in_path: &["chromium", "google-chrome-stable", "google-chrome", "chromium-browser"],
                install_hint: "package `chromium`",
            },
            ProgramLookup {
                setting: "browser.chromedriver",
                configured_path: config.chromedriver.as_deref(),
                names_in_path: &["chromedriver"],
                install_hint: "package `chromium-driver`",
            },
        ),
        BrowserKind::Firefox => (
            ProgramLookup {
                setting: "browser.firefox",
                configured_path: config.firefox.as_deref(),
                names_in_path: &["firefox-esr", "firefox"],
                install_hint: "package `firefox-esr`",
            },
            ProgramLookup {
                setting: "browser.geckodriver",
                configured_path: config.geckodriver.as_deref(),
                names_in_path: &["geckodriver"],
                install_hint: "`cargo install geckodriver --locked`",
            },
        ),
        BrowserKind::InternetExplorer => {
            let detail = "Internet Explorer is only available at a remote WebDriver end point: configure one in `browser.remote`";
            return Err(Failure::new(Phase::Launch, FailureKind::BrowserNotInstalled, detail));
        }
    };
    Ok(BrowserBinaries { browser_path: find_program(&browser)?, driver_path: find_program(&driver)? })
}

fn find_program(program: &ProgramLookup<'_>) -> Result<PathBuf, Failure> {
    let failure = |detail| Failure::new(Phase::Launch, FailureKind::BrowserNotInstalled, detail);
    if let Some(path) = program.configured_path {
        let missing =
            || failure(format!("`{}`: `{}` is not an executable file", program.setting, path.display()));
        return is_executable_file(path).then(|| path.to_owned()).ok_or_else(missing);
    }
    let folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let candidates =
        program.names_in_path.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    candidates.into_iter().find(|path| path.is_absolute() && is_executable_file(path)).ok_or_else(|| {
        failure(format!(
            "`{}` is not in PATH: install it ({}), or set `{}`",
            program.names_in_path[0], program.install_hint, program.setting
        ))
    })
}

fn is_executable_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
