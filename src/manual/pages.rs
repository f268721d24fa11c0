//! The pages of the manual, in reading order.

use super::page::Page;

macro_rules! pages {
    ($($name:literal),+ $(,)?) => {
        &[$(Page { name: $name, text: include_str!(concat!($name, ".md")) }),+]
    };
}

/// Every page of the manual.
pub const PAGES: &[Page] = pages![
    "index",
    "getting-started",
    "installation",
    "configuration",
    "upgrade",
    "monitors/index",
    "monitors/parts",
    "monitors/website",
    "monitors/website-ssl",
    "monitors/website-api",
    "monitors/website-ssl-api",
    "monitors/api",
    "monitors/collection-api",
    "monitors/browserscript",
    "monitors/selenium",
    "monitors/mobilecloud",
    "monitors/mobilelab",
    "monitors/security-scan",
    "monitors/hostagent",
    "monitors/tcp",
    "monitors/ping",
    "monitors/name-server",
    "monitors/email-smtp",
    "monitors/email-pop",
    "monitors/email-imap",
    "monitors/email-round-trip",
    "monitors/ftp",
    "monitors/ftp-ssl",
    "alerting",
    "templates",
    "locations",
    "browser-scripts",
    "browser-scripts-reference",
    "reports",
    "as-code",
    "api",
    "operations",
    "runbook",
    "security",
    "architecture",
    "glossary",
    "behaviour",
    "fields",
    "interface",
    "adding-a-probe",
    "testing",
    "contributing",
    "benchmarks",
    "changes",
];

/// Returns the page called `name`, such as `alerting` or `monitors/website`; otherwise the one with that subject, such
/// as `website`.
#[must_use]
pub fn find(name: &str) -> Option<Page> {
    let named = PAGES.iter().find(|page| page.name == name);
    named.or_else(|| PAGES.iter().find(|page| page.subject() == name)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_found_by_name_and_by_subject() {
        assert_eq!(find("alerting").unwrap().title(), "Alerting");
        assert_eq!(find("website"), find("monitors/website"));
        assert_eq!(find("monitors"), find("monitors/index"));
        // The page on the API, not the one on the monitor type `api`.
        assert_eq!(find("api").unwrap().name, "api");
        assert_eq!(find("nothing"), None);
    }
}
