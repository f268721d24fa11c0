//! Finds the browsers and drivers of this host.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::config::BrowserPoolConfig;
use super::session_options::BrowserKind;
use crate::domain::{Failure, FailureKind, Phase};

/// A browser with its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BrowserBinaries {
    pub(super) browser: PathBuf,
    pub(super) driver: PathBuf,
}

/// A program to look for: its setting with the value, its names in `PATH`, and its Debian package.
struct ProgramLookup<'a> {
    setting: &'static str,
    path: Option<&'a Path>,
    names: &'static [&'static str],
    package: &'static str,
}

/// Returns the browser of this `kind` and its driver.
///
/// # Errors
/// Fails with [`FailureKind::BrowserMissing`] (95), naming what to install.
pub(super) fn find(config: &BrowserPoolConfig, kind: BrowserKind) -> Result<BrowserBinaries, Failure> {
    let (browser, driver) = match kind {
        BrowserKind::Chrome => (
            ProgramLookup {
                setting: "browser.chromium",
                path: config.chromium.as_deref(),
                names: &["chromium", "google-chrome-stable", "google-chrome", "chromium-browser"],
                package: "package `chromium`",
            },
            ProgramLookup {
                setting: "browser.chromedriver",
                path: config.chromedriver.as_deref(),
                names: &["chromedriver"],
                package: "package `chromium-driver`",
            },
        ),
        BrowserKind::Firefox => (
            ProgramLookup {
                setting: "browser.firefox",
                path: config.firefox.as_deref(),
                names: &["firefox-esr", "firefox"],
                package: "package `firefox-esr`",
            },
            ProgramLookup {
                setting: "browser.geckodriver",
                path: config.geckodriver.as_deref(),
                names: &["geckodriver"],
                package: "`cargo install geckodriver --locked`",
            },
        ),
        BrowserKind::InternetExplorer => {
            let detail = "Internet Explorer is only available at a remote WebDriver end point: configure one in `browser.remote`";
            return Err(Failure::new(Phase::Launch, FailureKind::BrowserMissing, detail));
        }
    };
    Ok(BrowserBinaries { browser: locate(&browser)?, driver: locate(&driver)? })
}

fn locate(program: &ProgramLookup<'_>) -> Result<PathBuf, Failure> {
    let failure = |detail| Failure::new(Phase::Launch, FailureKind::BrowserMissing, detail);
    if let Some(path) = program.path {
        let missing =
            || failure(format!("`{}`: `{}` is not an executable file", program.setting, path.display()));
        return is_program(path).then(|| path.to_owned()).ok_or_else(missing);
    }
    let folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let candidates =
        program.names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    candidates.into_iter().find(|path| path.is_absolute() && is_program(path)).ok_or_else(|| {
        failure(format!(
            "`{}` is not in PATH: install it ({}), or set `{}`",
            program.names[0], program.package, program.setting
        ))
    })
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
