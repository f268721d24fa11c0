//! Any text as a settings file: each error has a message and names the file.

use std::path::PathBuf;

use vigie::settings::{SettingSources, Settings};

thread_local! {
    static FILE: File =
        File(std::env::temp_dir().join(format!("vigie-fuzz-settings-{}", std::process::id())));
}

/// A file that is removed when its thread ends.
struct File(PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub fn run(text: &[u8]) {
    let path = FILE.with(|file| file.0.clone());
    std::fs::write(&path, text).expect("the folder for temporary files can be written");
    match Settings::load(&SettingSources { file: Some(path.clone()), ..SettingSources::default() }) {
        Ok(settings) => {
            // Accepted settings are the same when loaded again.
            let again = Settings::load(&SettingSources { file: Some(path), ..SettingSources::default() });
            assert!(settings.changed_settings(&again.expect("it was taken before")).is_empty());
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            assert!(errors.iter().all(|error| !error.to_string().is_empty() && error.file.is_some()));
        }
    }
}
