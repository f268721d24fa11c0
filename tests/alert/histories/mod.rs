//! The table of histories.

use crate::script::{History, read};

/// Each file of histories with its name.
const FILES: &[(&str, &str)] = &[("simple", include_str!("simple.txt"))];

fn all() -> Vec<(&'static str, History)> {
    FILES
        .iter()
        .flat_map(|(file, text)| read(text).into_iter().map(move |history| (*file, history)))
        .collect()
}

#[test]
fn every_history_gives_exactly_its_messages() {
    for (file, history) in all() {
        history.play(file, false);
    }
}

/// Nothing is told twice, and nothing is lost, by a process that ends and starts again after every answer.
#[test]
fn every_history_gives_the_same_messages_with_restarts_in_it() {
    for (file, history) in all() {
        history.play(file, true);
    }
}
