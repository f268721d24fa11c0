//! The pages of the manual, in reading order.

use super::manual_page::ManualPage;

macro_rules! pages {
    ($($name:literal),+ $(,)?) => {
        &[$(ManualPage { path: $name, markdown: include_str!(concat!($name, ".md")) }),+]
    };
}

/// Every page of the manual.
pub const PAGES: &[ManualPage] = pages![
    "index",
    "getting-started",
    "installation",
    "packages",
    "configuration",
    "upgrade",
    "database",
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
    "formats",
    "alerting",
    "templates",
    "locations",
    "hosts",
    "many-hosts",
    "hostagent",
    "push",
    "controllers",
    "cluster-runbook",
    "growth",
    "browser-scripts",
    "browser-scripts-reference",
    "console",
    "console-pages",
    "reports",
    "as-code",
    "nagios",
    "prometheus",
    "opentelemetry",
    "api",
    "operations",
    "runbook",
    "security",
    "architecture",
    "bus",
    "glossary",
    "behaviour",
    "fields",
    "interface",
    "interface-tests",
    "adding-a-probe",
    "testing",
    "contributing",
    "benchmarks",
    "changes",
];

/// Returns the page called `name`, such as `alerting` or `monitors/website`; otherwise the one with that subject, such
/// as `website`.
#[must_use]
pub fn find_page(name: &str) -> Option<ManualPage> {
    let page_by_path = PAGES.iter().find(|page| page.path == name);
    page_by_path.or_else(|| PAGES.iter().find(|page| page.subject() == name)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_found_by_name_and_by_subject() {
        assert_eq!(find_page("alerting").unwrap().first_heading(), "Alerting");
        assert_eq!(find_page("website"), find_page("monitors/website"));
        assert_eq!(find_page("monitors"), find_page("monitors/index"));
        // The page on the API, not the one on the monitor type `api`.
        assert_eq!(find_page("api").unwrap().path, "api");
        assert_eq!(find_page("nothing"), None);
    }
}
