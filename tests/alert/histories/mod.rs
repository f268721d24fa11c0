//! Plays all histories.

use std::path::Path;

use crate::alert::script::{History, read};

/// Files of histories in this folder.
const FILES: &[&str] = &[
    "simple.txt",
    "modes.txt",
    "verification.txt",
    "blackouts.txt",
    "no_data.txt",
    "groups.txt",
    "late.txt",
    "kinds.txt",
    "dependencies.txt",
];

// row: 2.1 notify_on_error; 6 notify_on_error
#[test]
fn every_history_gives_exactly_its_notifications() {
    play(false);
}

/// Restarts after every result neither repeat nor lose a notification.
#[test]
fn every_history_gives_the_same_notifications_with_restarts() {
    play(true);
}

#[test]
fn there_are_at_least_120_histories() {
    let histories = all();
    assert!(histories.len() >= 120, "{} histories", histories.len());
    let titles: std::collections::BTreeSet<_> = histories.iter().map(|(_, history)| &history.title).collect();
    assert!(titles.len() + 1 >= histories.len(), "titles say what is told apart");
}

fn all() -> Vec<(&'static str, History)> {
    let of = |file: &&'static str| {
        let path = Path::new(file!()).with_file_name(file);
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(root.join(path)).unwrap();
        let file = *file;
        read(&text).into_iter().map(move |history| (file, history)).collect::<Vec<_>>()
    };
    FILES.iter().flat_map(of).collect()
}

/// Plays every history and reports all that fail, not only the first.
fn play(restart_often: bool) {
    let errors: Vec<String> =
        all().into_iter().filter_map(|(file, history)| history.play(file, restart_often).err()).collect();
    assert!(errors.is_empty(), "{} histories went otherwise:\n{}", errors.len(), errors.join("\n"));
}
