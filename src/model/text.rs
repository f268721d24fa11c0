//! Text that a peer wrote, for people to read.

/// `text` with every control character replaced by `\u{fffd}`: names in certificates and records of name
/// servers may hold any, and a terminal would obey them.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_terminal_obeys_what_a_peer_wrote() {
        assert_eq!(
            printable("a\u{1b}[2J\u{9b}1m\r\nb\u{7f}\t"),
            "a\u{fffd}[2J\u{fffd}1m\u{fffd}\u{fffd}b\u{fffd}\u{fffd}"
        );
        assert_eq!(printable("CN=Zoë 漢字"), "CN=Zoë 漢字");
    }
}
