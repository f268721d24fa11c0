//! The names of this host.

/// Where Linux shows the name of the host.
const HOST_NAME_FILE: &str = "/proc/sys/kernel/hostname";

/// Returns the names of this host: the configured one, and without its domain.
pub(super) fn host_names() -> Vec<String> {
    match std::fs::read_to_string(HOST_NAME_FILE) {
        Ok(text) => names_from(text.trim()),
        Err(error) => {
            tracing::warn!(file = HOST_NAME_FILE, error = %error, "failed to read the name of this host");
            Vec::new()
        }
    }
}

fn names_from(name: &str) -> Vec<String> {
    let short_name = name.split('.').next().unwrap_or_default();
    let mut names = vec![name.to_owned(), short_name.to_owned()];
    names.retain(|name| !name.is_empty() && name != "(none)");
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_its_whole_name_and_its_short_one() {
        assert_eq!(names_from("web.example.net"), ["web.example.net", "web"]);
        assert_eq!(names_from("web"), ["web"]);
        assert!(names_from("").is_empty() && names_from("(none)").is_empty());
    }
}
