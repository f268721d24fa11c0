//! A system user that may log in to FTP servers.

use std::path::Path;
use std::process::{Command, Stdio};

/// A system user that exists while a test runs; vsftpd accepts no others.
pub struct User {
    pub name: String,
}

impl User {
    /// Creates the user and makes it the owner of `home`, which must exist. One user at a time per process.
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

/// Runs `command` with `input` on its standard input; returns whether it succeeded.
pub fn run(command: &mut Command, input: &str) -> bool {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    child.wait().unwrap().success()
}
