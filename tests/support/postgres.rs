//! PostgreSQL servers of Debian's package on loopback, each with its own data, port and user.
#![allow(dead_code, reason = "every test binary takes what it needs")]

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use vigie::store::{PostgresSettings, PostgresStore, Store, StoreLocation};

use super::daemon::{free_port, is_root};
use super::namespace::is_inside;

/// Ends the server and removes its data when the test process ends, however that happens.
const GUARD: &str = r#"
"$@" >"$FOLDER/log" 2>&1 &
server=$!
while read -r line; do
    case "$line" in
        # Its processes too: one that still ends keeps the next server from its data.
        kill) kill -KILL "$server" $(pgrep -P "$server"); wait "$server"; echo killed ;;
        stop) kill -INT "$server"; wait "$server"; echo stopped ;;
        start) "$@" >>"$FOLDER/log" 2>&1 & server=$!; echo started ;;
    esac
done
kill -QUIT "$server"
wait "$server"
rm -rf "$FOLDER"
"#;

/// What a version after this one may do to its tables: each gets a column that this version does not know.
const NEWER_TABLES: &str = "
DO $$ DECLARE name TEXT; BEGIN
    FOR name IN SELECT relname FROM pg_class
        WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace
    LOOP EXECUTE format('ALTER TABLE %I ADD COLUMN of_the_next_version BIGINT DEFAULT 7', name); END LOOP;
END $$;
INSERT INTO vigie_schema (version, usable_since) SELECT max(version) + 1, max(version) FROM vigie_schema";

/// A server, which ends when it is dropped.
pub struct PostgresServer {
    pub port: u16,
    folder: PathBuf,
    guard: Child,
}

/// Returns the folder of the programs of the newest installed version.
fn binaries() -> PathBuf {
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .expect("the package `postgresql` is installed")
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let version = path.file_name()?.to_str()?.parse().ok()?;
            path.join("bin/postgres").exists().then(|| (version, path.join("bin")))
        })
        .collect();
    versions.sort();
    versions.pop().expect("the package `postgresql` is installed").1
}

/// Creates the folder of the data of a server.
fn new_data_folder(folder: &Path) -> PathBuf {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    let data = folder.join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
    PostgresServer::give_to_postgres(folder);
    PostgresServer::give_to_postgres(&data);
    data
}

/// Returns a command that runs `program` as the user `postgres`, since the server refuses root.
fn as_postgres(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command;
    if is_inside() {
        // There is no other user: it gets a user namespace in which that of the test is not root.
        command = Command::new("unshare");
        command.args(["--user", "--map-user=1000", "--map-group=1000", "--"]);
    } else {
        command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]);
    }
    command.arg(program);
    command
}

impl PostgresServer {
    /// Starts a server that does not wait for its disk.
    pub fn start() -> Self {
        Self::start_with(&["-c", "fsync=off", "-c", "full_page_writes=off"])
    }

    /// Starts a server with these further arguments.
    pub fn start_with(arguments: &[&str]) -> Self {
        Self::start_with_files(arguments, &[])
    }

    /// Starts a server that presents this certificate (PEM).
    pub fn start_with_tls(certificate: &str, key: &str) -> Self {
        let files = [("server.crt", certificate), ("server.key", key)];
        Self::start_with_files(&["-c", "fsync=off", "-c", "ssl=on"], &files)
    }

    /// Makes `path` belong to the user of the server.
    pub fn give_to_postgres(path: &Path) {
        if is_root() && !is_inside() {
            let user = nix::unistd::User::from_name("postgres").unwrap().expect("the user `postgres`");
            nix::unistd::chown(path, Some(user.uid), Some(user.gid)).unwrap();
        }
    }

    fn start_with_files(arguments: &[&str], files: &[(&str, &str)]) -> Self {
        let folder = tempfile::Builder::new().prefix("vigie-postgres").tempdir().unwrap().keep();
        Self::start_in(folder, arguments, files)
    }

    /// Like [`PostgresServer::start_with`], with all its files in `folder`, which is removed with it.
    pub fn start_in(folder: PathBuf, arguments: &[&str], files: &[(&str, &str)]) -> Self {
        let data = new_data_folder(&folder);
        let initdb = as_postgres(&binaries().join("initdb"))
            .args(["--auth=trust", "--username=vigie", "--no-locale", "--encoding=UTF8", "--no-sync", "-D"])
            .arg(&data)
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(initdb.status.success(), "initdb: {}", String::from_utf8_lossy(&initdb.stderr));
        // Whoever proves a password is `guest`; all others are trusted.
        fs::write(
            data.join("pg_hba.conf"),
            "host all guest 127.0.0.1/32 scram-sha-256\nlocal all all trust\nhost all all 127.0.0.1/32 trust\n\
             host replication all 127.0.0.1/32 trust\n",
        )
        .unwrap();
        for (name, content) in files {
            let path = data.join(name);
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            Self::give_to_postgres(&path);
        }
        Self::run(folder, arguments)
    }

    /// Starts a replica of `primary` with a copy of its data, in `folder`, which is removed with it.
    pub fn start_replica(primary: &Self, folder: PathBuf, arguments: &[&str]) -> Self {
        let data = new_data_folder(&folder);
        let copied = as_postgres(&binaries().join("pg_basebackup"))
            .args(["-h", "127.0.0.1", "-U", "vigie", "-p", &primary.port.to_string(), "-R", "--no-sync"])
            .args(["--checkpoint=fast", "-D"])
            .arg(&data)
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(copied.status.success(), "pg_basebackup: {}", String::from_utf8_lossy(&copied.stderr));
        Self::run(folder, arguments)
    }

    /// Starts a server with the data in `folder`.
    fn run(folder: PathBuf, arguments: &[&str]) -> Self {
        let (port, data) = (free_port(), folder.join("data"));
        let mut server = as_postgres(&binaries().join("postgres"));
        server.args(["-h", "127.0.0.1", "-c", "max_connections=200", "-c", "shared_buffers=64MB"]);
        server.args(["-p", &port.to_string()]).arg("-D").arg(&data).arg("-k").arg(&folder).args(arguments);
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD, "sh"]).arg(server.get_program()).args(server.get_args());
        let guard = guard
            .env("FOLDER", &folder)
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { port, folder, guard };
        server.wait_until_ready();
        server
    }

    /// Waits until it accepts connections.
    pub fn wait_until_ready(&self) {
        let end = Instant::now() + Duration::from_mins(1);
        let is_ready = || {
            let probe = Command::new(binaries().join("pg_isready"))
                .args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()])
                .status();
            probe.unwrap().success()
        };
        while !is_ready() {
            let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(Instant::now() < end, "PostgreSQL does not start: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends it at once, as a power cut would.
    pub fn kill(&mut self) {
        self.order("kill");
    }

    /// Ends it in an orderly way; its clients are disconnected.
    pub fn stop(&mut self) {
        self.order("stop");
    }

    /// Starts it again.
    pub fn restart(&mut self) {
        self.begin_restart();
        self.wait_until_ready();
    }

    /// Starts it again; it does not accept connections yet.
    pub fn begin_restart(&mut self) {
        self.order("start");
    }

    fn order(&mut self, word: &str) {
        let stdin = self.guard.stdin.as_mut().unwrap();
        writeln!(stdin, "{word}").unwrap();
        let mut reply = [0; 1];
        let out = self.guard.stdout.as_mut().unwrap();
        loop {
            std::io::Read::read_exact(out, &mut reply).unwrap();
            if reply == [b'\n'] {
                return;
            }
        }
    }

    /// Returns the settings for a connection to `database`.
    pub fn settings(&self, database: &str) -> PostgresSettings {
        Self::settings_at(self.port, database)
    }

    /// Returns the settings for a connection to `database` at this port.
    pub fn settings_at(port: u16, database: &str) -> PostgresSettings {
        match StoreLocation::parse(&url_at(port, database)) {
            Ok(StoreLocation::Postgres(location)) => {
                PostgresSettings { max_connections: 8, ..PostgresSettings::new(location) }
            }
            other => panic!("{other:?}"),
        }
    }

    /// Returns the URL of `database`.
    pub fn url(&self, database: &str) -> String {
        url_at(self.port, database)
    }

    /// Runs SQL statements in `database`.
    pub async fn execute(&self, database: &str, sql: String) {
        let mut conn = PgConnection::connect(&self.url(database)).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut conn).await.unwrap();
        conn.close().await.unwrap();
    }

    /// Returns the CPU time of its processes, ended ones included.
    pub fn cpu_time(&self) -> Duration {
        let ticks_per_second = 100;
        let fields = |pid: u32| -> Option<(u32, u64)> {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
            // Parent, then user and system time, and those of ended children (proc(5)).
            let ticks = fields[11..15].iter().map(|ticks| ticks.parse::<u64>().unwrap_or(0)).sum();
            Some((fields[1].parse().ok()?, ticks))
        };
        let pid_file = fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap();
        let postmaster: u32 = pid_file.lines().next().unwrap().trim().parse().unwrap();
        let pids = fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
        let ticks: u64 = pids
            .filter_map(|pid| fields(pid).filter(|(parent, _)| pid == postmaster || *parent == postmaster))
            .map(|(_, ticks)| ticks)
            .sum();
        Duration::from_millis(ticks * 1000 / ticks_per_second)
    }

    /// Copies the rows of `table` before `until` `rounds` - 1 times, each `step_us` later in `column`.
    pub async fn multiply(
        &self,
        database: &str,
        table: &str,
        column: &str,
        until: i64,
        step_us: i64,
        rounds: i64,
    ) {
        let mut conn = PgConnection::connect(&self.url(database)).await.unwrap();
        let select = "SELECT string_agg(quote_ident(attname), ',' ORDER BY attnum) FROM pg_attribute
             WHERE attrelid = $1::regclass AND attnum > 0 AND attgenerated = ''";
        let columns: String = sqlx::query_scalar(select).bind(table).fetch_one(&mut conn).await.unwrap();
        let values = columns
            .split(',')
            .map(|name| if name == column { format!("{name} + n * {step_us}") } else { name.to_owned() })
            .collect::<Vec<_>>()
            .join(",");
        let insert = format!(
            "INSERT INTO {table} ({columns}) SELECT {values} FROM {table} CROSS JOIN generate_series(1, {rounds} - 1) AS n
             WHERE {column} < {until} ON CONFLICT DO NOTHING"
        );
        sqlx::raw_sql(AssertSqlSafe(insert)).execute(&mut conn).await.unwrap();
        conn.close().await.unwrap();
    }

    /// Creates an empty database.
    pub async fn create_database(&self) -> String {
        let name = new_name();
        self.execute("postgres", format!("CREATE DATABASE {name}")).await;
        name
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

fn url_at(port: u16, database: &str) -> String {
    format!("postgres://vigie@127.0.0.1:{port}/{database}?sslmode=disable")
}

fn new_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// A database on the server that the tests of this process share.
pub struct SharedDatabase {
    pub server: &'static PostgresServer,
    pub name: String,
}

impl SharedDatabase {
    /// Creates a database with the newest tables.
    pub async fn create() -> Self {
        static SERVER: OnceLock<PostgresServer> = OnceLock::new();
        static TEMPLATE: tokio::sync::OnceCell<()> = tokio::sync::OnceCell::const_new();
        let server = SERVER.get_or_init(PostgresServer::start);
        TEMPLATE
            .get_or_init(|| async {
                server.execute("postgres", "CREATE DATABASE vigie_template".to_owned()).await;
                PostgresStore::connect(&server.settings("vigie_template")).await.unwrap().close().await;
                if std::env::var_os("VIGIE_NEWER_TABLES").is_some() {
                    server.execute("vigie_template", NEWER_TABLES.to_owned()).await;
                }
            })
            .await;
        let name = new_name();
        server.execute("postgres", format!("CREATE DATABASE {name} TEMPLATE vigie_template")).await;
        Self { server, name }
    }

    pub async fn connect(&self) -> PostgresStore {
        PostgresStore::connect(&self.server.settings(&self.name)).await.unwrap()
    }

    /// Removes the database.
    pub async fn remove(self) {
        self.server.execute("postgres", format!("DROP DATABASE {} WITH (FORCE)", self.name)).await;
    }
}
