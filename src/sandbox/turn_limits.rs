//! Limits what the JSON of a turn may hold, before it is parsed.

use std::io;

use super::outcome::Turn;

/// Most values in the JSON of a turn: what it takes in memory is many times its text.
const MAX_VALUES: usize = 1_000_000;

/// Reads the answer to a request.
///
/// # Errors
/// Fails when it is none, or holds too many values.
pub fn parse_reply(line: &[u8]) -> io::Result<Result<Turn, String>> {
    if count_values(line) > 2 * MAX_VALUES {
        return Err(io::Error::other("it left too many values"));
    }
    Ok(serde_json::from_slice(line)?)
}

/// Returns about how many values the JSON `text` holds, or more.
pub(super) fn count_values(text: &[u8]) -> usize {
    text.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{' | b':')).count()
}

/// Fails when the JSON `text` of a script holds too many values.
pub(super) fn check_value_count(text: &str) -> Result<(), String> {
    if count_values(text.as_bytes()) > MAX_VALUES {
        return Err(format!("its variables, tests and requests hold more than {MAX_VALUES} values"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_values_are_refused_and_long_texts_are_not() {
        let numbers = |count: usize| format!("[{}]", vec!["1"; count].join(","));
        assert!(check_value_count(&numbers(MAX_VALUES - 10)).is_ok());
        assert!(
            check_value_count(&numbers(MAX_VALUES + 10)).unwrap_err().contains("more than 1000000 values")
        );
        assert!(check_value_count(&format!("\"{}\"", "x".repeat(16_000_000))).is_ok());
        assert!(parse_reply(numbers(3 * MAX_VALUES).as_bytes()).is_err());
    }
}
