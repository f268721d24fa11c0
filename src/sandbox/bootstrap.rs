//! The JavaScript that a sandbox starts with, and the libraries that it loads when a script requires one.

use std::sync::LazyLock;

/// The files of `js/`, in one function: they share names with each other, and none with scripts.
pub(super) const BOOTSTRAP: &str = concat!(
    "(function () {\n\"use strict\";\n",
    include_str!("js/limits.js"),
    include_str!("js/expect.js"),
    include_str!("js/variables.js"),
    include_str!("js/messages.js"),
    include_str!("js/response_checks.js"),
    include_str!("js/host.js"),
    include_str!("js/pm.js"),
    "\n})();\n"
);

/// The libraries of postman-sandbox 6.6.1, bundled by its authors.
const LIBRARY_BUNDLE: &str = include_str!("js/vendor/postman-sandbox-6.6.1.js");
/// How the bundle ends: the ids of the modules that it runs at once, which are those of the sandbox itself.
const ENTRY_MODULES: &str = "},{},[20,17]);";

/// An expression whose value is the `require` of the bundle; it runs none of the modules yet.
pub(super) static LIBRARIES: LazyLock<String> = LazyLock::new(|| {
    let modules = LIBRARY_BUNDLE.strip_suffix(ENTRY_MODULES).unwrap_or(LIBRARY_BUNDLE);
    format!(
        "(function () {{ var require; var global = globalThis; var File = class File {{}}, Blob = class Blob {{}}; {modules}}},{{}},[]); return require; }})()"
    )
});

#[cfg(test)]
mod tests {
    use aws_lc_rs::digest::{SHA256, digest};

    use super::*;
    use crate::domain::to_hex;

    #[test]
    fn the_vendored_bundle_is_the_one_of_the_checksums() {
        assert!(LIBRARY_BUNDLE.ends_with(ENTRY_MODULES));
        let checksums = include_str!("js/vendor/SHA256SUMS");
        for (name, content) in
            [("postman-sandbox-6.6.1.js", LIBRARY_BUNDLE), ("LICENSE", include_str!("js/vendor/LICENSE"))]
        {
            let sum = to_hex(digest(&SHA256, content.as_bytes()).as_ref());
            assert!(checksums.contains(&format!("{sum}  {name}")), "{name}");
        }
    }
}
