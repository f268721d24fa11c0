//! The URL of a store: what is accepted, how it is shown, and what every mistake says.

use std::path::{Path, PathBuf};

use vigie::store::{PostgresLocation, PostgresTls, StoreLocation, StorePassword};

/// A password as it may stand in a URL by mistake; no text may contain it.
const PASSWORD: &str = "s3cr";

#[track_caller]
fn postgres(url: &str) -> PostgresLocation {
    match StoreLocation::parse(url) {
        Ok(StoreLocation::Postgres(location)) => location,
        other => panic!("{url}: {other:?}"),
    }
}

#[test]
fn an_sqlite_url_is_a_path() {
    for (url, path) in [
        ("sqlite:vigie.db", "vigie.db"),
        ("sqlite:/var/lib/vigie/vigie.db", "/var/lib/vigie/vigie.db"),
        ("sqlite:///var/lib/vigie/vigie.db", "/var/lib/vigie/vigie.db"),
        ("sqlite:a folder/50%.db", "a folder/50%.db"),
        ("sqlite:../a:b#c.db", "../a:b#c.db"),
    ] {
        let location = StoreLocation::parse(url).unwrap();
        assert_eq!(location, StoreLocation::Sqlite(PathBuf::from(path)), "{url}");
        assert_eq!(location.to_string(), path);
    }
}

#[test]
fn a_postgres_url_names_server_user_and_database() {
    let location = postgres("postgres://vigie@db.example.net:5433/monitoring");
    assert_eq!(
        (location.host.as_str(), location.port, location.user.as_str(), location.database.as_str()),
        ("db.example.net", 5433, "vigie", "monitoring")
    );
    assert_eq!((location.password, location.tls, location.ca_file), (None, PostgresTls::VerifyFull, None));
    let location = postgres("postgresql://vig%69e:p%40s%2Fs%25@[2001:db8::1]/my%20db?sslmode=require");
    assert_eq!(location.password.as_ref().map(StorePassword::expose), Some("p@s/s%"));
    assert_eq!(
        (location.host.as_str(), location.port, location.user.as_str(), location.database.as_str()),
        ("2001:db8::1", 5432, "vigie", "my db")
    );
    assert_eq!(location.to_string(), "postgres://vigie@[2001:db8::1]:5432/my%20db?sslmode=require");
    let location = postgres("postgres://v@db/v?sslrootcert=/etc/ca%20file.pem");
    assert_eq!(location.tls, PostgresTls::VerifyFull);
    assert_eq!(location.ca_file.as_deref(), Some(Path::new("/etc/ca file.pem")));
}

#[test]
fn a_socket_is_a_host_that_begins_with_a_slash() {
    for url in [
        "postgres://v@/d?host=/run/postgresql&port=5433",
        "postgres://v@/d?port=5433&host=%2Frun%2Fpostgresql",
        "postgres://v@%2Frun%2Fpostgresql:5433/d",
        "postgres://v@/d?host=/run/postgresql&port=5433&sslmode=prefer",
    ] {
        let location = postgres(url);
        assert!(location.is_socket(), "{url}");
        assert_eq!((location.port, location.tls), (5433, PostgresTls::Disable), "{url}");
        assert_eq!(location.to_string(), "postgres://v@/d?host=/run/postgresql&port=5433");
    }
}

#[test]
fn a_certificate_is_verified_unless_the_server_is_on_this_host() {
    for (url, tls) in [
        ("postgres://v@db/d", PostgresTls::VerifyFull),
        ("postgres://v@192.0.2.1/d", PostgresTls::VerifyFull),
        ("postgres://v@localhost/d", PostgresTls::Prefer),
        ("postgres://v@127.0.0.1/d", PostgresTls::Prefer),
        ("postgres://v@[::1]/d", PostgresTls::Prefer),
        ("postgres://v@localhost/d?sslrootcert=ca.pem", PostgresTls::VerifyFull),
        ("postgres://v@db/d?sslmode=disable", PostgresTls::Disable),
        ("postgres://v@db/d?sslmode=verify-ca&sslrootcert=ca.pem", PostgresTls::VerifyCa),
        ("postgres://v@db/d?sslmode=verify-full", PostgresTls::VerifyFull),
    ] {
        assert_eq!(postgres(url).tls, tls, "{url}");
    }
}

#[test]
fn what_is_shown_can_be_parsed_again() {
    for url in [
        "postgres://v:s3cr3t@db/d",
        "postgres://v%3A%40:s3cr3t@[::1]:1/d%2Fe",
        "postgres://v:s3cr3t@/d?host=/run/a%20b",
        "postgres://v:s3cr3t@db/d?sslrootcert=/etc/a%26b.pem",
    ] {
        let Ok(StoreLocation::Postgres(mut location)) = StoreLocation::parse(url) else {
            assert!(url.contains("%2Fe"), "{url}");
            continue;
        };
        let shown = format!("{location} {location:?}");
        assert!(!shown.contains(PASSWORD), "{shown}");
        location.password = None;
        assert_eq!(postgres(&location.to_string()), location);
    }
}

#[test]
fn every_mistake_says_what_to_do_and_shows_no_password() {
    for (url, says) in [
        ("", "must begin with a scheme; use `sqlite:PATH` or"),
        ("vigie.db", "must begin with a scheme"),
        ("/var/lib/vigie.db", "must begin with a scheme"),
        ("mysql://v:s3cr3t@db/d", "the unknown scheme `mysql`; use `sqlite:PATH` or"),
        ("SQLITE:x", "the unknown scheme `SQLITE`"),
        ("sqlite:", "names no file; use `sqlite:PATH`"),
        ("sqlite: ", "names no file"),
        ("sqlite://vigie.db", "names a host, which a file does not have"),
        ("sqlite::memory:", "must name a file"),
        ("sqlite:a.db?mode=ro", "takes no parameters after `?`"),
        ("postgres:v:s3cr3t@db/d", "needs `//` after the scheme"),
        ("postgres://v:s3cr3t@db", "names no database"),
        ("postgres://v:s3cr3t@db/", "names no database"),
        ("postgres://v:s3cr3t@db/a/b", "more than one `/` after the host"),
        ("postgres://db/d", "names no user"),
        ("postgres://:s3cr3t@db/d", "names no user"),
        ("postgres://v:s3cr3t@/d", "names no host; use"),
        ("postgres://v:s3cr3t@db:0/d", "a port that is no number from 1 to 65535"),
        ("postgres://v:s3cr3t@db:65536/d", "a port that is no number"),
        ("postgres://v:s3cr3t@db:/d", "a port that is no number"),
        ("postgres://v:s3cr3t@db:+5/d", "a port that is no number"),
        ("postgres://v:s3cr/t@db/d", "encode a `/` of a password as `%2F`"),
        ("postgres://v:s3cr?t@db/d", "encode a `?` or `/` of a password as `%3F`"),
        ("postgres://v:s3cr3t@2001:db8::1/d", "put an IPv6 address in brackets"),
        ("postgres://v:s3cr3t@[db]/d", "brackets around what is no IPv6 address"),
        ("postgres://v:s3cr3t@[::1]x/d", "brackets around what is no IPv6 address"),
        ("postgres://v:s3cr3t@a,b/d", "several hosts; name the one that accepts writes"),
        ("postgres://v:s3cr3t@a b/d", "neither a name nor an address"),
        ("postgres://v:s3cr3t%@db/d", "encode a percent sign as `%25`"),
        ("postgres://v:s3cr3t%FF@db/d", "not as UTF-8"),
        ("postgres://v:s3cr3t@db/d%00", "a control character"),
        (
            "postgres://v:s3cr3t@db/d?sslmode=verify",
            "use `disable`, `prefer`, `require`, `verify-ca` or `verify-full`",
        ),
        ("postgres://v:s3cr3t@db/d?sslmode=", "a parameter without a value"),
        ("postgres://v:s3cr3t@db/d?sslmode=require&sslmode=require", "the parameter `sslmode` twice"),
        (
            "postgres://v:s3cr3t@db/d?sslmode=require&sslrootcert=a",
            "which only `sslmode=verify-full` and `verify-ca` use",
        ),
        (
            "postgres://v:s3cr3t@db/d?application_name=x",
            "the unknown parameter `application_name`; use `host`",
        ),
        ("postgres://v@db/d?password=s3cr3t", "the unknown parameter `password`"),
        ("postgres://v:s3cr3t@db/d?host=/run/a", "names a host twice"),
        ("postgres://v:s3cr3t@db:1/d?port=2", "names a port twice"),
        ("postgres://v:s3cr3t@/d?host=/run/a&sslmode=require", "asks for TLS on a socket"),
    ] {
        let error = StoreLocation::parse(url).expect_err(url).to_string();
        assert!(error.contains(says), "{url}: {error}");
        assert!(!error.contains(PASSWORD), "{url}: {error}");
    }
}
