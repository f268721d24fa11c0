//! Reads passwords from the terminal without echo, or from a file; never from arguments, which other users can see.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use super::output::{InvalidInput, UsageError};
use crate::schema::reader::SecretSource;
use crate::service::password_error;
use crate::settings::read_secret;

/// Most bytes of a line that is typed or piped in.
const MAX_LINE_BYTES: u64 = 16 * 1024;

/// Where a password comes from.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct PasswordArgs {
    /// Read the password from FILE, `-` for standard input, instead of asking for it
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

impl PasswordArgs {
    /// Reads the current password of a user.
    pub(super) fn read_current(&self) -> anyhow::Result<Zeroizing<String>> {
        match &self.password_file {
            Some(file) => read_password_file(file),
            None => Terminal::open()?.prompt_hidden("Password: "),
        }
    }

    /// Reads a new password, prompted for twice, and validates it.
    pub(super) fn read_new(&self) -> anyhow::Result<Zeroizing<String>> {
        let password = if let Some(file) = &self.password_file {
            read_password_file(file)?
        } else {
            let mut terminal = Terminal::open()?;
            let password = terminal.prompt_hidden("New password: ")?;
            if *password != *terminal.prompt_hidden("Repeat the password: ")? {
                return Err(UsageError::with_hint("the two passwords differ", None));
            }
            password
        };
        match password_error(&password) {
            Some(error) => Err(InvalidInput(vec![error]).into()),
            None => Ok(password),
        }
    }
}

/// Prompts for a line at the terminal, such as a login.
pub(super) fn prompt(prompt_text: &str) -> anyhow::Result<String> {
    Ok(Terminal::open()?.prompt_line(prompt_text)?.to_string())
}

/// Reads the password in `file`, `-` for standard input.
pub(super) fn read_password_file(file: &Path) -> anyhow::Result<Zeroizing<String>> {
    if file == Path::new("-") {
        return read_first_line(std::io::stdin().lock());
    }
    let path = file.to_string_lossy();
    let secret = read_secret(Path::new(""), SecretSource::File(&path));
    secret.map(Zeroizing::new).map_err(|reason| anyhow::anyhow!("the file `{path}` cannot be used: {reason}"))
}

fn read_first_line(reader: impl Read) -> anyhow::Result<Zeroizing<String>> {
    let mut line = Zeroizing::new(String::new());
    BufReader::new(reader.take(MAX_LINE_BYTES))
        .read_line(&mut line)
        .context("the password cannot be read")?;
    let length = line.trim_end_matches(['\r', '\n']).len();
    line.truncate(length);
    Ok(line)
}

/// The controlling terminal of this process, which is used even when standard input is redirected.
struct Terminal {
    tty: File,
}

impl Terminal {
    fn open() -> anyhow::Result<Self> {
        let tty = OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(|_| {
            let hint = "name a file with `--password-file FILE`, or `-` for standard input";
            UsageError::with_hint("no terminal to prompt for the password", Some(hint.to_owned()))
        })?;
        Ok(Self { tty })
    }

    fn prompt_hidden(&mut self, prompt_text: &str) -> anyhow::Result<Zeroizing<String>> {
        let echo_off = DisabledEcho::new(&self.tty)?;
        let line = self.prompt_line(prompt_text);
        drop(echo_off);
        writeln!(self.tty)?;
        line
    }

    fn prompt_line(&mut self, prompt_text: &str) -> anyhow::Result<Zeroizing<String>> {
        write!(self.tty, "{prompt_text}")?;
        self.tty.flush()?;
        let line = read_first_line(&self.tty)?;
        anyhow::ensure!(!line.is_empty(), "nothing was entered");
        Ok(line)
    }
}

/// Turns echo off until dropped.
struct DisabledEcho {
    tty: File,
    saved_settings: Termios,
}

impl DisabledEcho {
    fn new(tty: &File) -> anyhow::Result<Self> {
        let saved_settings = tcgetattr(tty)?;
        let mut settings_without_echo = saved_settings.clone();
        settings_without_echo.local_flags.remove(LocalFlags::ECHO);
        tcsetattr(tty, SetArg::TCSAFLUSH, &settings_without_echo)?;
        Ok(Self { tty: tty.try_clone()?, saved_settings })
    }
}

impl Drop for DisabledEcho {
    fn drop(&mut self) {
        // If the terminal is closed, there is no echo to restore.
        let _ = tcsetattr(&self.tty, SetArg::TCSAFLUSH, &self.saved_settings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piped_password_is_the_first_line_without_its_line_break() {
        for (given, password) in
            [("s3cret\n", "s3cret"), (" a b \r\nrest", " a b "), ("none", "none"), ("", "")]
        {
            assert_eq!(*read_first_line(given.as_bytes()).unwrap(), password);
        }
    }

    #[test]
    fn a_new_password_from_a_file_is_validated() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("password");
        let args = PasswordArgs { password_file: Some(file.clone()) };
        std::fs::write(&file, "correct horse\n").unwrap();
        assert_eq!(*args.read_new().unwrap(), "correct horse");
        std::fs::write(&file, "short\n").unwrap();
        let error = args.read_new().unwrap_err().to_string();
        assert!(error.contains("8 to 1024 characters") && !error.contains("short"), "{error}");
        assert_eq!(*args.read_current().unwrap(), "short");
    }
}
