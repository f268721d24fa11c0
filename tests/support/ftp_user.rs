//! A user of this machine who may log in to FTP servers.

use std::path::Path;
use std::process::{Command, Stdio};

/// A user of this machine, for as long as a test runs: vsftpd lets nobody else in.
pub struct User {
    pub name: String,
}

impl User {
    /// Its home is there already, and belongs to it from now on. One at a time in one process.
    pub fn with_home(home: &Path, password: &str) -> Self {
        let name = format!("vigieftp{}", std::process::id());
        let made = run(Command::new("useradd").args(["-M", "-s", "/bin/sh", "-d"]).arg(home).arg(&name), "");
        assert!(made, "useradd failed");
        let user = Self { name };
        assert!(
            run(&mut Command::new("chpasswd"), &format!("{}:{password}\n", user.name)),
            "chpasswd failed"
        );
        assert!(run(Command::new("chown").arg(&user.name).arg(home), ""), "chown failed");
        user
    }
}

impl Drop for User {
    fn drop(&mut self) {
        run(Command::new("userdel").arg(&self.name), "");
    }
}

/// Runs `command` with `input`; whether it went well.
pub fn run(command: &mut Command, input: &str) -> bool {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    child.wait().unwrap().success()
}
