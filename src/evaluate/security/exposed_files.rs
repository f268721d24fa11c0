//! Files that servers expose by mistake, known by their content, so that a server which responds to everything with
//! 200 exposes none of them.

use super::finding_collector::FindingCollector;
use super::finding_table::EXPOSED_FILE;
use super::scanned_response::ScannedResponse;
use crate::domain::{Severity, from_utf8_lossy};

/// A file that nobody should be able to get.
#[derive(Debug)]
pub struct ExposedFile {
    /// Its path on the server.
    pub path: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What the content is, as evidence; never the content itself.
    pub content: &'static str,
    is_content: fn(&str) -> bool,
}

/// The files that are requested, each once with GET.
pub static EXPOSED_FILES: &[ExposedFile] = &[
    file("/.git/HEAD", Severity::High, "the reference of a git repository", |text| {
        text.starts_with("ref: refs/")
            || text.trim().len() == 40 && text.trim().bytes().all(|byte| byte.is_ascii_hexdigit())
    }),
    file("/.git/config", Severity::High, "the configuration of a git repository", |text| {
        text.trim_start().starts_with("[core]")
    }),
    file("/.svn/entries", Severity::High, "the entries of a Subversion working copy", |text| {
        text.lines().next().is_some_and(|line| line.trim().parse::<u8>().is_ok()) && text.len() < 64 * 1024
    }),
    file("/.hg/requires", Severity::High, "the requirements of a Mercurial repository", |text| {
        text.lines().any(|line| line.trim() == "revlogv1" || line.trim() == "dotencode")
    }),
    file("/.env", Severity::Critical, "variables with their values", is_env_file),
    file("/.env.production", Severity::Critical, "variables with their values", is_env_file),
    file("/.aws/credentials", Severity::Critical, "access keys of AWS", |text| {
        text.contains("aws_access_key_id")
    }),
    file("/id_rsa", Severity::Critical, "a private key", is_private_key),
    file("/.ssh/id_rsa", Severity::Critical, "a private key", is_private_key),
    file("/server.key", Severity::Critical, "a private key", is_private_key),
    file("/.htpasswd", Severity::Critical, "users with hashes of their passwords", |text| {
        text.lines().next().is_some_and(|line| {
            line.split_once(':').is_some_and(|(user, hash)| {
                is_word(user)
                    && ["$apr1$", "$2y$", "$2a$", "$2b$", "{SHA}", "$5$", "$6$"]
                        .iter()
                        .any(|mark| hash.starts_with(mark))
            })
        })
    }),
    file("/.htaccess", Severity::Medium, "rules of Apache", |text| {
        !is_markup(text)
            && ["RewriteEngine", "AuthType ", "Deny from", "Require "].iter().any(|word| text.contains(word))
    }),
    file("/.DS_Store", Severity::Medium, "a list of files made by macOS", |text| {
        text.starts_with("\0\0\0\u{1}Bud1")
    }),
    file("/server-status", Severity::Medium, "the status page of Apache", |text| {
        text.contains("Apache Server Status")
    }),
    file("/phpinfo.php", Severity::High, "the configuration of PHP", is_php_info),
    file("/info.php", Severity::High, "the configuration of PHP", is_php_info),
    file(
        "/wp-config.php.bak",
        Severity::Critical,
        "the configuration of WordPress with its password",
        |text| text.contains("DB_PASSWORD"),
    ),
    file("/config.php.bak", Severity::High, "the source of a program", |text| {
        text.trim_start().starts_with("<?php")
    }),
    file("/backup.sql", Severity::Critical, "a dump of a database", is_sql_dump),
    file("/dump.sql", Severity::Critical, "a dump of a database", is_sql_dump),
    file("/web.config", Severity::Medium, "the configuration of IIS", |text| {
        text.contains("<configuration") && text.contains("system.web")
    }),
    file("/actuator/env", Severity::Critical, "the environment of a Spring application", |text| {
        text.trim_start().starts_with('{') && text.contains("\"propertySources\"")
    }),
    file("/actuator/heapdump", Severity::Critical, "the memory of a Java program", |text| {
        text.starts_with("JAVA PROFILE 1.0")
    }),
    file("/debug/pprof/", Severity::Medium, "profiles of a Go program", |text| {
        text.contains("/debug/pprof/") && text.contains("goroutine")
    }),
    file("/composer.lock", Severity::Medium, "the packages of a PHP program with their versions", |text| {
        text.trim_start().starts_with('{')
            && text.contains("\"packages\"")
            && text.contains("\"content-hash\"")
    }),
];

const fn file(
    path: &'static str,
    severity: Severity,
    content: &'static str,
    is_content: fn(&str) -> bool,
) -> ExposedFile {
    ExposedFile { path, severity, content, is_content }
}

fn is_markup(text: &str) -> bool {
    text.trim_start().starts_with('<')
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.@".contains(&byte))
}

/// Lines of `NAME=value` alone, with comments between.
fn is_env_file(text: &str) -> bool {
    let mut assignments = 0;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).take(50)
    {
        let line = line.strip_prefix("export ").unwrap_or(line);
        match line.split_once('=') {
            Some((name, _))
                if is_word(name) && name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic()) =>
            {
                assignments += 1;
            }
            _ => return false,
        }
    }
    assignments > 0
}

fn is_private_key(text: &str) -> bool {
    text.trim_start().starts_with("-----BEGIN ") && text.contains("PRIVATE KEY-----")
}

fn is_php_info(text: &str) -> bool {
    text.contains("phpinfo()") && text.contains("PHP Version")
}

fn is_sql_dump(text: &str) -> bool {
    let start: String = text.chars().take(4096).collect();
    !is_markup(&start)
        && [
            "-- MySQL dump",
            "-- PostgreSQL database dump",
            "-- MariaDB dump",
            "CREATE TABLE ",
            "INSERT INTO ",
        ]
        .iter()
        .any(|mark| start.contains(mark))
}

/// Judges the response for the path of `file`.
pub fn judge_exposed_file(file: &ExposedFile, response: &ScannedResponse, findings: &mut FindingCollector) {
    if response.status != 200 || response.body.is_empty() {
        return;
    }
    if (file.is_content)(&from_utf8_lossy(&response.body)) {
        let evidence = format!("`{}` responds with {}", file.path, file.content);
        findings.add_with_severity(&EXPOSED_FILE, file.severity, Some(file.path), evidence);
    }
}

#[cfg(test)]
mod tests {
    use super::super::scanned_response::test_response::response;
    use super::*;

    fn is_exposed(path: &str, body: &[u8], status: u16) -> bool {
        let file = EXPOSED_FILES.iter().find(|file| file.path == path).unwrap();
        let mut page = response(&format!("https://a.test{path}"), &[]);
        (page.body, page.status) = (body.to_vec(), status);
        let mut findings = FindingCollector::default();
        judge_exposed_file(file, &page, &mut findings);
        let (findings, _) = findings.into_findings();
        for finding in &findings {
            assert_eq!((finding.severity, finding.subject.as_deref()), (file.severity, Some(path)));
            assert!(!finding.evidence.contains("s3cret"), "{}", finding.evidence);
        }
        !findings.is_empty()
    }

    /// A content for each file.
    const CONTENTS: &[(&str, &str)] = &[
        ("/.git/HEAD", "ref: refs/heads/main\n"),
        ("/.git/config", "[core]\n\trepositoryformatversion = 0\n"),
        ("/.svn/entries", "12\n"),
        ("/.hg/requires", "dotencode\nfncache\n"),
        ("/.env", "# app\nAPP_KEY=s3cret\nexport DB=x\n"),
        ("/.env.production", "TOKEN=s3cret"),
        ("/.aws/credentials", "[default]\naws_access_key_id = s3cret\n"),
        ("/id_rsa", "-----BEGIN RSA PRIVATE KEY-----\ns3cret"),
        ("/.ssh/id_rsa", "-----BEGIN OPENSSH PRIVATE KEY-----\ns3cret"),
        ("/server.key", "-----BEGIN PRIVATE KEY-----\ns3cret"),
        ("/.htpasswd", "anna:$apr1$s3cret\n"),
        ("/.htaccess", "RewriteEngine On\n"),
        ("/.DS_Store", "\0\0\0\u{1}Bud1"),
        ("/server-status", "<h1>Apache Server Status for a.test</h1>"),
        ("/phpinfo.php", "<title>PHP 8.2 - phpinfo()</title><h1>PHP Version 8.2</h1>"),
        ("/info.php", "<title>phpinfo()</title>PHP Version 8"),
        ("/wp-config.php.bak", "<?php define('DB_PASSWORD', 's3cret');"),
        ("/config.php.bak", "<?php $a = 1;"),
        ("/backup.sql", "-- MySQL dump 10.13\n"),
        ("/dump.sql", "CREATE TABLE a (b int);"),
        ("/web.config", "<configuration><system.web/></configuration>"),
        ("/actuator/env", "{\"propertySources\": []}"),
        ("/actuator/heapdump", "JAVA PROFILE 1.0.2"),
        ("/debug/pprof/", "<a href='/debug/pprof/'>goroutine</a>"),
        ("/composer.lock", "{\"content-hash\": \"a\", \"packages\": []}"),
    ];

    #[test]
    fn every_file_is_known_by_its_content() {
        assert_eq!(CONTENTS.len(), EXPOSED_FILES.len());
        for (path, content) in CONTENTS {
            assert!(is_exposed(path, content.as_bytes(), 200), "{path}");
            assert!(!is_exposed(path, content.as_bytes(), 403), "{path}");
            assert!(!is_exposed(path, b"", 200), "{path}");
        }
    }

    #[test]
    fn a_server_that_answers_everything_exposes_nothing() {
        let pages: [&[u8]; 5] = [
            b"<!doctype html><html><head><title>Shop</title></head><body>Welcome</body></html>",
            b"OK",
            b"{\"status\": \"ok\"}",
            b"not found: the page = gone",
            &[0xff; 64],
        ];
        for file in EXPOSED_FILES {
            for page in pages {
                assert!(!is_exposed(file.path, page, 200), "{} {page:?}", file.path);
            }
        }
    }
}
