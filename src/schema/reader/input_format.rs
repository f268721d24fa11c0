//! How fields are written, and where secrets of files stand.

/// How fields are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// Bodies of `/api/v3`.
    V3,
    /// Bodies of `/legacy-api`.
    Legacy,
    /// Monitor files and the settings file.
    File,
}

/// Where a secret of a file stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretSource<'a> {
    /// In a file of its own: `<field>_file`.
    File(&'a str),
    /// In an environment variable: `<field>_env`.
    Env(&'a str),
}

/// Reads a secret, or says why it can't, without a full stop.
pub type SecretReader<'a> = &'a dyn Fn(SecretSource<'_>) -> Result<String, String>;

/// Refuses every secret that is not in place: for forms that have no others.
pub fn reject_secret_sources(_: SecretSource<'_>) -> Result<String, String> {
    Err("secrets in files and variables are for files only".to_owned())
}
