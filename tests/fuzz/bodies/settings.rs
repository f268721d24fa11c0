//! Any text as a settings file: each fault says what is wrong and in which file.

use std::path::PathBuf;

use vigie::settings::{Settings, SettingSources};

thread_local! {
    static FILE: File =
        File(std::env::temp_dir().join(format!("vigie-fuzz-settings-{}", std::process::id())));
}

/// Removed with its thread.
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
            // A settings file that was taken says the same the next time.
            let again = Settings::load(&SettingSources { file: Some(path), ..SettingSources::default() });
            assert!(settings.changed_settings(&again.expect("it was taken before")).is_empty());
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            assert!(errors.iter().all(|error| !error.to_string().is_empty() && error.file.is_some()));
        }
    }
}
