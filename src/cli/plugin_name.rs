//! The names of links to the binary under which it is a plugin of Nagios: `check_vigie`, and `check_vigie_TYPE` for one type.

use std::ffi::OsString;
use std::path::Path;

/// Start of the names of plugins.
const PLUGIN_PREFIX: &str = "check_vigie";

/// Returns `args`, program name first, as those of `vigie check --format nagios` when the program was started by the name of
/// a plugin; otherwise `args` themselves. An underscore in the type stands for a hyphen.
pub(super) fn expand_plugin_name(args: Vec<OsString>) -> Vec<OsString> {
    let program = args.first().map(Path::new).and_then(Path::file_name).and_then(|name| name.to_str());
    let Some(type_suffix) = program.and_then(|name| name.strip_prefix(PLUGIN_PREFIX)) else { return args };
    let monitor_type = match type_suffix.strip_prefix('_') {
        Some(name) => Some(name.replace('_', "-")),
        None if type_suffix.is_empty() => None,
        None => return args,
    };
    if let [_, version] = args.as_slice()
        && (version == "-V" || version == "--version")
    {
        return vec!["vigie".into(), "--version".into()];
    }
    let start = ["vigie", "check", "--format", "nagios"].map(OsString::from);
    start.into_iter().chain(monitor_type.map(OsString::from)).chain(args.into_iter().skip(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_link_names_the_type() {
        for (line, expected) in [
            ("/usr/bin/vigie check tcp x", "/usr/bin/vigie check tcp x"),
            ("/usr/lib/nagios/plugins/check_vigie tcp a:1 -w 2", "vigie check --format nagios tcp a:1 -w 2"),
            ("check_vigie_website http://a/ -t 5", "vigie check --format nagios website http://a/ -t 5"),
            ("./check_vigie_website_ssl https://a/", "vigie check --format nagios website-ssl https://a/"),
            ("check_vigie_tcp -V", "vigie --version"),
            ("check_vigies x", "check_vigies x"),
        ] {
            let args = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
            assert_eq!(expand_plugin_name(args(line)), args(expected), "{line}");
        }
    }
}
