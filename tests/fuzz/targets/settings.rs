//! Any text as a settings file: each fault says what is wrong and in which file.
#![no_main]

use std::cell::LazyCell;
use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use vigie::app::settings::{Settings, Sources};

thread_local! {
    static FILE: LazyCell<PathBuf> =
        LazyCell::new(|| std::env::temp_dir().join(format!("vigie-fuzz-settings-{}", std::process::id())));
}

fuzz_target!(|text: &[u8]| {
    let path = FILE.with(|file| PathBuf::clone(file));
    std::fs::write(&path, text).expect("the folder for temporary files can be written");
    match Settings::load(&Sources { file: Some(path.clone()), ..Sources::default() }) {
        Ok(settings) => {
            // A settings file that was taken says the same the next time.
            let again = Settings::load(&Sources { file: Some(path), ..Sources::default() });
            assert!(settings.differences(&again.expect("it was taken before")).is_empty());
        }
        Err(faults) => {
            assert!(!faults.is_empty());
            assert!(faults.iter().all(|fault| !fault.to_string().is_empty() && fault.file.is_some()));
        }
    }
});
