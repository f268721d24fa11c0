//! Process-wide helpers of commands: file descriptor limit, tokio runtime, environment variables.

/// Reads an environment variable. An empty one counts as unset, unlike in `clap`.
pub(super) fn non_empty_env_variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Creates the tokio runtime of a command: single-threaded, or with one thread per core.
pub(super) fn build_runtime(multi_threaded: bool) -> anyhow::Result<tokio::runtime::Runtime> {
    let mut builder = if multi_threaded {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    Ok(builder.enable_all().build()?)
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
