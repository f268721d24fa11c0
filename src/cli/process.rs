//! Process-wide helpers of commands: file descriptor limit, tokio runtime, environment variables.

/// Reads an environment variable. An empty one counts as unset, unlike in `clap`.
pub(super) fn non_empty_env_variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Creates the tokio runtime of a command that mostly waits.
pub(super) fn build_single_threaded_runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

/// Creates the tokio runtime of a command that uses every core.
pub(super) fn build_multi_threaded_runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// Raises the limit of open descriptors as far as the system allows.
pub(super) fn raise_descriptor_limit() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        // Fails only where a policy of the host forbids it; then the old limit stays.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// Returns the limit of open descriptors.
pub(super) fn descriptor_limit() -> u64 {
    use nix::sys::resource::{Resource, getrlimit};
    getrlimit(Resource::RLIMIT_NOFILE).map_or(u64::MAX, |(soft, _)| soft)
}
