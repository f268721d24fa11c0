//! Input formats of fields, and sources of secrets in files.

/// The input format of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// Bodies of `/api/v3`.
    V3,
    /// Bodies of `/legacy-api`.
    Legacy,
    /// Monitor files, and the entries of `vigie apply`.
    File,
}

/// The source of a secret in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretSource<'a> {
    /// A file of its own: `<field>_file`.
    File(&'a str),
    /// An environment variable: `<field>_env`.
    Env(&'a str),
}

/// Reads a secret. The error says why that failed, without a full stop.
pub type SecretReader<'a> = &'a dyn Fn(SecretSource<'_>) -> Result<String, String>;

/// Rejects every secret source: for formats in which a secret is always given as its value.
pub fn reject_secret_sources(_: SecretSource<'_>) -> Result<String, String> {
    Err("secrets in files and variables are for files only".to_owned())
}
