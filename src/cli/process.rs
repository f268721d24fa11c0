//! What commands need of their process: descriptors, a runtime, variables.

/// An environment variable that says something: an empty one is as good as none, which `clap` denies.
pub(super) fn env_variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A runtime for one command: all on this thread, or on one thread per core.
pub(super) fn runtime(threads: bool) -> anyhow::Result<tokio::runtime::Runtime> {
    let mut builder = if threads {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    Ok(builder.enable_all().build()?)
}

/// Lets this process open as many descriptors as the system allows it.
pub(super) fn raise_descriptor_limit() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        // Refused only where a policy of the host stands against it; the old limit holds then.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}
