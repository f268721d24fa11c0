//! Locates geckodriver, which Debian does not package.

use std::path::{Path, PathBuf};

pub fn geckodriver() -> Option<PathBuf> {
    let named = std::env::var_os("VIGIE_GECKODRIVER").map(PathBuf::from);
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/geckodriver/bin/geckodriver");
    named.or_else(|| built.exists().then_some(built))
}
