//! Digest logins at real servers: apache2 (MD5) and lighttpd (MD5, SHA-256, SHA-512-256, hashed user names).

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use aws_lc_rs::digest::{SHA256, SHA512_256};
use md5::{Digest as _, Md5};
use serde_json::{Value, json};
use vigie::domain::{FailureKind as Kind, Phase};

use crate::probe_http::check::Check;
use crate::probe_http::check::Expect::{self, Fails, Passes};
use crate::support::daemon::{Daemon, free_port, has, open_folder, wait_for};
use crate::support::lacking::lacks;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

fn hash(algorithm: &str, text: &str) -> String {
    match algorithm {
        "MD5" => hex(&Md5::digest(text)),
        "SHA-256" => hex(aws_lc_rs::digest::digest(&SHA256, text.as_bytes()).as_ref()),
        _ => hex(aws_lc_rs::digest::digest(&SHA512_256, text.as_bytes()).as_ref()),
    }
}

/// Returns a password file with the user `me` and the password `secret`.
fn passwords(algorithm: &str) -> String {
    format!("me:inner:{}:{}\n", hash(algorithm, "me:inner:secret"), hash(algorithm, "me:inner"))
}

async fn check_logins(url: &str) {
    let refused = Fails(5, Kind::LoginRejected, Some(Phase::Validate));
    let cases: [(Value, Expect); 4] = [
        (json!({"realm_userid": "me", "realm_password": "secret", "keyword_string": "the needle"}), Passes),
        (json!({"realm_userid": "me", "realm_password": "wrong"}), refused),
        (json!({"realm_userid": "you", "realm_password": "secret"}), refused),
        (json!({}), Fails(7, Kind::HttpErrorStatus, None)),
    ];
    for (fields, expected) in cases {
        let observation = Check::new(url).with(fields.clone()).run().await;
        expected.compare(&observation).unwrap_or_else(|difference| panic!("{url} {fields}: {difference}"));
        let text = format!("{observation:?}");
        assert!(!text.contains("username="), "{text}");
    }
}

fn write_page(folder: &Path, name: &str) {
    fs::create_dir_all(folder.join(name)).unwrap();
    fs::write(folder.join(name).join("page.html"), "a page for the needle\n").unwrap();
}

#[tokio::test]
async fn a_real_lighttpd_accepts_digest_logins() {
    if !has("lighttpd") {
        let remedy = "`apt-get install lighttpd`";
        return lacks("probe_http::digest::a_real_lighttpd_accepts_digest_logins", "lighttpd", remedy);
    }
    let (folder, port) = (open_folder(), free_port());
    let root = folder.path().display().to_string();
    let mut text = format!(
        "server.document-root = \"{root}\"\nserver.bind = \"127.0.0.1\"\nserver.port = {port}\n\
         server.errorlog = \"/dev/null\"\nserver.modules = (\"mod_auth\", \"mod_authn_file\")\n\
         mimetype.assign = (\".html\" => \"text/html\")\n"
    );
    let kinds = [
        ("md5", "MD5", ""),
        ("sha", "SHA-256", ""),
        ("hashed", "SHA-256", ", \"userhash\" => \"enable\""),
        ("long", "SHA-512-256", ""),
    ];
    for (name, algorithm, more) in kinds {
        write_page(folder.path(), name);
        let file = format!("{root}/{name}.passwords");
        fs::write(&file, passwords(algorithm)).unwrap();
        let _ = write!(
            text,
            "$HTTP[\"url\"] =~ \"^/{name}/\" {{ auth.backend = \"htdigest\"\n auth.backend.htdigest.userfile = \"{file}\"\n \
             auth.require = (\"\" => (\"method\" => \"digest\", \"realm\" => \"inner\", \"require\" => \"valid-user\", \
             \"algorithm\" => \"{algorithm}\"{more})) }}\n"
        );
    }
    fs::write(folder.path().join("lighttpd.conf"), text).unwrap();
    let _daemon =
        Daemon::start(Command::new("lighttpd").args(["-D", "-f"]).arg(folder.path().join("lighttpd.conf")));
    wait_for(port);
    for (name, ..) in kinds {
        check_logins(&format!("http://127.0.0.1:{port}/{name}/page.html")).await;
    }
}

#[tokio::test]
async fn a_real_apache_accepts_a_digest_login() {
    let modules = "/usr/lib/apache2/modules";
    if !has("apache2") {
        let remedy = "`apt-get install apache2`";
        return lacks("probe_http::digest::a_real_apache_accepts_a_digest_login", "apache2", remedy);
    }
    let (folder, port) = (open_folder(), free_port());
    let root = folder.path().display().to_string();
    write_page(folder.path(), "site");
    fs::write(folder.path().join("passwords"), format!("me:inner:{}\n", hash("MD5", "me:inner:secret")))
        .unwrap();
    let load: String = [
        ("mpm_event", "mpm_event"),
        ("authn_core", "authn_core"),
        ("authn_file", "authn_file"),
        ("authz_core", "authz_core"),
        ("authz_user", "authz_user"),
        ("auth_digest", "auth_digest"),
    ]
    .iter()
    .map(|(name, file)| format!("LoadModule {name}_module {modules}/mod_{file}.so\n"))
    .collect::<Vec<_>>()
    .concat();
    // Apache cannot run its threads as root. Without root it stays the user that started it.
    let user = if crate::support::daemon::is_root() { "User nobody\nGroup nogroup\n" } else { "" };
    let text = format!(
        "ServerRoot {root}\nPidFile {root}/pid\nListen 127.0.0.1:{port}\nServerName 127.0.0.1\nErrorLog /dev/null\n\
         Mutex file:{root} default\nDefaultRuntimeDir {root}\n{load}{user}DocumentRoot {root}/site\n<Directory {root}/site>\nAuthType Digest\n\
         AuthName inner\nAuthUserFile {root}/passwords\nRequire valid-user\n</Directory>\n"
    );
    fs::write(folder.path().join("apache.conf"), text).unwrap();
    let _daemon =
        Daemon::start(Command::new("apache2").args(["-X", "-f"]).arg(folder.path().join("apache.conf")));
    wait_for(port);
    check_logins(&format!("http://127.0.0.1:{port}/page.html")).await;
}
