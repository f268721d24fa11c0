//! The settings of the database: its URL, and where its password comes from.

use std::fs;
use std::path::Path;
use std::time::Duration;

use vigie::settings::{SettingSources, Settings};
use vigie::store::{DATABASE_FILE, StoreLocation};

fn sources(folder: &Path, text: &str) -> SettingSources {
    let file = folder.join("vigie.yaml");
    fs::write(&file, text).unwrap();
    SettingSources { file: Some(file), ..SettingSources::default() }
}

#[track_caller]
fn password(sources: &SettingSources) -> Option<String> {
    match Settings::load(sources).unwrap().store_location() {
        StoreLocation::Postgres(location) => location.password.map(|password| password.expose().to_owned()),
        other @ StoreLocation::Sqlite(_) => panic!("{other:?}"),
    }
}

#[test]
fn without_a_url_the_database_is_in_the_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::load(&sources(folder.path(), "data: /srv/vigie")).unwrap();
    assert_eq!(settings.store_location(), StoreLocation::Sqlite(Path::new("/srv/vigie").join(DATABASE_FILE)));
    let settings = sources(folder.path(), "data: /srv/vigie\nstore: {url: 'sqlite:other/a.db'}");
    let settings = Settings::load(&settings).unwrap();
    assert_eq!(settings.store_location(), StoreLocation::Sqlite("other/a.db".into()));
}

#[test]
fn limits_of_connections_and_queries_are_settings() {
    let folder = tempfile::tempdir().unwrap();
    let text = "store: {max_connections: 3, connect_seconds: 4, query_seconds: 5}";
    let options = Settings::load(&sources(folder.path(), text)).unwrap().store.options();
    assert_eq!(
        (options.max_connections, options.connect_timeout, options.query_timeout),
        (3, Duration::from_secs(4), Duration::from_secs(5))
    );
}

#[test]
fn the_password_comes_from_the_url_the_variable_the_file_or_the_credential() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("password"), "from-file\n").unwrap();
    let with_url = |url: &str, others: &str| {
        fs::write(path("vigie.yaml"), format!("store: {{url: '{url}'{others}}}")).unwrap();
    };
    let mut tried = sources(folder.path(), "");
    with_url("postgres://v@db/d", "");
    assert_eq!(password(&tried), None);
    fs::create_dir(path("credentials")).unwrap();
    tried.credentials_folder = Some(path("credentials"));
    assert_eq!(password(&tried), None, "there is no such credential");
    fs::write(path("credentials/vigie-store-password"), "from-credential\n").unwrap();
    assert_eq!(password(&tried).as_deref(), Some("from-credential"));
    let password_file = format!(", password_file: '{}'", path("password").display());
    with_url("postgres://v@db/d", &password_file);
    assert_eq!(password(&tried).as_deref(), Some("from-file"));
    tried.environment = vec![("VIGIE_STORE_PASSWORD".to_owned(), "from-variable".to_owned())];
    assert_eq!(password(&tried).as_deref(), Some("from-variable"));
    with_url("postgres://v:from%2Durl@db/d", &password_file);
    assert_eq!(password(&tried).as_deref(), Some("from-url"));
    assert_eq!(tried.unknown_variables(), [], "the variable is known");
}

#[test]
fn an_unusable_password_is_reported_with_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let mut tried =
        sources(folder.path(), "store:\n  url: postgres://v@db/d\n  password_file: /nonexistent\n");
    let errors = Settings::load(&tried).unwrap_err();
    let error = errors.iter().map(ToString::to_string).collect::<String>();
    assert!(
        error.contains("vigie.yaml:3:18: `store.password_file`: the file `/nonexistent` cannot be read"),
        "{error}"
    );
    fs::write(folder.path().join("vigie-store-password"), "\n").unwrap();
    tried = sources(folder.path(), "store:\n  url: postgres://v@db/d\n");
    tried.credentials_folder = Some(folder.path().to_owned());
    let errors = Settings::load(&tried).unwrap_err();
    let error = errors.iter().map(ToString::to_string).collect::<String>();
    assert!(error.contains("the credential `vigie-store-password` of systemd: it is empty"), "{error}");
}

#[test]
fn a_wrong_url_is_reported_with_its_position_and_without_its_password() {
    let folder = tempfile::tempdir().unwrap();
    let text = "store:\n  synchronous: normal\n  url: postgres://v:s3cr3t@db:x/d\n";
    let errors = Settings::load(&sources(folder.path(), text)).unwrap_err();
    let [error] = errors.as_slice() else { panic!("{errors:?}") };
    let shown = error.to_string();
    assert!(shown.contains("vigie.yaml:3:8: `store.url` has a port that is no number"), "{shown}");
    let variable = SettingSources {
        environment: vec![("VIGIE_STORE_URL".to_owned(), "mysql://v:s3cr3t@db/d".to_owned())],
        ..SettingSources::default()
    };
    let from_variable = Settings::load(&variable).unwrap_err();
    assert!(from_variable[0].to_string().contains("`store.url` has the unknown scheme `mysql`"));
    assert!(!format!("{errors:?} {from_variable:?}").contains("s3cr3t"));
}

#[test]
fn nothing_that_is_shown_of_the_settings_contains_the_password() {
    let folder = tempfile::tempdir().unwrap();
    let text = "store: {url: 'postgres://v:s3cr3t@db/d'}";
    let settings = Settings::load(&sources(folder.path(), text)).unwrap();
    assert!(!format!("{settings:?}").contains("s3cr3t"));
    assert_eq!(settings.store_location().to_string(), "postgres://v@db:5432/d?sslmode=verify-full");
    // A URL that differs in its password alone is no changed setting: the password itself is never compared.
    let other = sources(folder.path(), "store: {url: 'postgres://v:other@db/d'}");
    assert!(settings.changed_settings(&Settings::load(&other).unwrap()).is_empty());
}
