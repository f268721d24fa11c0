//! Text that a peer wrote, for people to read; texts that are secrets, to compare.

/// `text` with every control character replaced by `\u{fffd}`: names in certificates and records of name
/// servers may hold any, and a terminal would obey them.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Whether two secrets are the same, in a time that tells nothing but their lengths.
#[must_use]
pub fn same_secret(one: &str, other: &str) -> bool {
    let differing = one.bytes().zip(other.bytes()).fold(0, |found, (a, b)| found | (a ^ b));
    std::hint::black_box(differing) == 0 && one.len() == other.len()
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

    #[test]
    fn secrets_are_the_same_only_as_a_whole() {
        for (one, other, same) in [("", "", true), ("a", "", false), ("ab", "ac", false), ("é1", "é1", true)]
        {
            assert_eq!(same_secret(one, other), same, "{one} {other}");
        }
        assert!(!same_secret("ab", "abc"));
    }
}
