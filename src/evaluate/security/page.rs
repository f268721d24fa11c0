//! Judges what a site serves: mixed content, listings, redirects to https.

use super::finding_collector::FindingCollector;
use super::finding_table::{
    DIRECTORY_LISTING, HTTP_NOT_REDIRECTED, HTTPS_DOWNGRADED, HTTPS_MISSING, MIXED_CONTENT, SECURITY_TXT,
};
use super::scanned_response::ScannedResponse;
use crate::domain::Severity;

/// Directories that are asked for their listing, beside the page itself.
pub const LISTED_DIRECTORIES: [&str; 5] = ["/uploads/", "/backup/", "/files/", "/images/", "/static/"];

/// How servers begin a listing, in lower case: Apache, nginx, Python, lighttpd, Caddy, IIS, Jetty.
const LISTING_MARKS: [&str; 5] = [
    "<title>index of /",
    "<title>directory listing for ",
    "<title>directory: /",
    "<h1>index of /",
    "[to parent directory]",
];

/// Maximum number of URLs in the evidence.
const MAX_QUOTED_URLS: usize = 3;

/// Judges an object that an https page loads by http, as the scanner of pages found them: its URL and whether it can
/// change the page, as scripts, style sheets and frames can.
pub fn judge_mixed_content<'a>(
    page: &ScannedResponse,
    objects: impl Iterator<Item = (&'a str, bool)>,
    findings: &mut FindingCollector,
) {
    if !page.is_https() {
        return;
    }
    let (mut urls, mut count, mut severity) = (Vec::new(), 0_usize, Severity::Low);
    for (url, is_active) in objects.filter(|(url, _)| url.starts_with("http://")) {
        count += 1;
        if is_active {
            severity = Severity::Medium;
        }
        if urls.len() < MAX_QUOTED_URLS {
            urls.push(format!("`{url}`"));
        }
    }
    if count > 0 {
        let evidence = format!("{count} objects, such as {}", urls.join(", "));
        findings.add_with_severity(&MIXED_CONTENT, severity, None, evidence);
    }
}

/// Judges the response of a directory.
pub fn judge_listing(response: &ScannedResponse, findings: &mut FindingCollector) {
    if response.status != 200 || !response.is_html() {
        return;
    }
    let start = response.body.get(..response.body.len().min(4096)).unwrap_or_default();
    let text = crate::domain::from_utf8_lossy(start).to_ascii_lowercase();
    if let Some(mark) = LISTING_MARKS.iter().find(|mark| text.contains(*mark)) {
        let path = response.url.path();
        findings.add_about(&DIRECTORY_LISTING, path, format!("`{path}` responds with `{mark}`"));
    }
}

/// Judges the response of the http side of a site; `has_https` says whether the site has an https side.
pub fn judge_http_side(response: &ScannedResponse, has_https: bool, findings: &mut FindingCollector) {
    let leads_to_https = response.redirect_target().is_some_and(|target| target.scheme() == "https");
    if leads_to_https {
        return;
    }
    let evidence = format!("`{}` responds with {}", response.url, response.status);
    let definition = if has_https { &HTTP_NOT_REDIRECTED } else { &HTTPS_MISSING };
    // An error shows nothing and keeps nothing secret.
    if response.status < 400 || !has_https {
        findings.add(definition, evidence);
    }
}

/// Judges a redirect of the https side.
pub fn judge_https_redirect(response: &ScannedResponse, findings: &mut FindingCollector) {
    if let Some(target) = response.redirect_target().filter(|target| target.scheme() == "http")
        && response.is_https()
    {
        let host = target.host_str().unwrap_or_default();
        findings.add(&HTTPS_DOWNGRADED, format!("`{}` leads to `http://{host}`", response.url));
    }
}

/// Judges the response for `/.well-known/security.txt`; `None` when there was none.
pub fn judge_security_txt(response: Option<&ScannedResponse>, findings: &mut FindingCollector) {
    let has_contact = response.is_some_and(|response| {
        response.status == 200
            && response.text().lines().any(|line| line.trim().to_ascii_lowercase().starts_with("contact:"))
    });
    if !has_contact {
        let status = response.map_or_else(|| "nothing".to_owned(), |response| response.status.to_string());
        findings.add(
            &SECURITY_TXT,
            format!("`/.well-known/security.txt` responds with {status} and no `Contact:`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::scanned_response::test_response::response;
    use super::*;

    fn ids(judge: impl FnOnce(&mut FindingCollector)) -> Vec<(String, Severity)> {
        let mut findings = FindingCollector::default();
        judge(&mut findings);
        findings.into_findings().0.into_iter().map(|finding| (finding.label(), finding.severity)).collect()
    }

    #[test]
    fn mixed_content_is_worse_when_it_is_active() {
        let page = response("https://a.test/", &[]);
        let mixed = |objects: &[(&str, bool)]| {
            ids(|findings| judge_mixed_content(&page, objects.iter().copied(), findings))
        };
        assert_eq!(mixed(&[("https://a.test/a.js", true)]), []);
        assert_eq!(mixed(&[("http://a.test/a.png", false)]), [("mixed-content".into(), Severity::Low)]);
        assert_eq!(
            mixed(&[("http://a.test/a.png", false), ("http://a.test/a.js", true)]),
            [("mixed-content".into(), Severity::Medium)]
        );
        let plain = response("http://a.test/", &[]);
        assert_eq!(
            ids(|findings| judge_mixed_content(&plain, [("http://a.test/a.js", true)].into_iter(), findings)),
            []
        );
    }

    #[test]
    fn a_listing_is_known_by_its_content() {
        let listing = |status, body: &str| {
            let mut page = response("https://a.test/files/", &[("content-type", "text/html")]);
            (page.status, page.body) = (status, body.as_bytes().to_vec());
            ids(|findings| judge_listing(&page, findings))
        };
        assert_eq!(
            listing(200, "<html><head><title>Index of /files/</title>"),
            [("directory-listing (/files/)".into(), Severity::Medium)]
        );
        assert_eq!(listing(403, "<title>Index of /files/</title>"), []);
        assert_eq!(listing(200, "<title>Our files</title>"), []);
    }

    #[test]
    fn http_must_lead_to_https() {
        let side = |status, location: Option<&str>, has_https| {
            let headers: Vec<(&str, &str)> = location.map(|url| ("location", url)).into_iter().collect();
            let mut page = response("http://a.test/", &headers);
            page.status = status;
            ids(|findings| judge_http_side(&page, has_https, findings))
        };
        assert_eq!(side(301, Some("https://a.test/"), true), []);
        assert_eq!(side(200, None, true), [("http-not-redirected".into(), Severity::Medium)]);
        assert_eq!(side(302, Some("/login"), true), [("http-not-redirected".into(), Severity::Medium)]);
        assert_eq!(side(404, None, true), []);
        assert_eq!(side(404, None, false), [("https-missing".into(), Severity::Medium)]);
    }

    #[test]
    fn https_must_not_lead_to_http() {
        let redirect = |location| {
            let mut page = response("https://a.test/", &[("location", location)]);
            page.status = 302;
            ids(|findings| judge_https_redirect(&page, findings))
        };
        assert_eq!(redirect("http://a.test/"), [("https-downgraded".into(), Severity::Medium)]);
        assert_eq!(redirect("/b"), []);
    }

    #[test]
    fn a_security_txt_has_a_contact() {
        let mut page = response("https://a.test/.well-known/security.txt", &[]);
        page.body = b"# us\nContact: mailto:security@a.test\n".to_vec();
        assert_eq!(ids(|findings| judge_security_txt(Some(&page), findings)), []);
        page.body = b"<html>".to_vec();
        assert_eq!(ids(|findings| judge_security_txt(Some(&page), findings)).len(), 1);
        assert_eq!(ids(|findings| judge_security_txt(None, findings)).len(), 1);
    }
}
