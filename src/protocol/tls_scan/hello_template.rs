//! The hello that the questions of a scan vary.

use super::client_hello::ClientHello;
use crate::domain::{ScannedTlsVersion, TLS_GROUPS};

/// Returns the groups that are offered in `version`, in the order in which clients have them: those of today first.
pub(super) fn groups_for(version: ScannedTlsVersion) -> Vec<u16> {
    const TODAY: [u16; 5] = [4588, 29, 23, 24, 25];
    let is_offered = |number: &u16| {
        let group = crate::domain::find_tls_group(*number);
        group.is_some_and(|group| match version {
            ScannedTlsVersion::Tls13 => group.is_for_tls13(),
            _ => group.is_for_tls12(),
        })
    };
    let others = TLS_GROUPS.iter().map(|group| group.number).filter(|number| !TODAY.contains(number));
    TODAY.into_iter().chain(others).filter(is_offered).collect()
}

/// Returns a hello that offers `suites` and `groups` and asks for nothing in particular.
pub(super) const fn hello<'a>(
    version: ScannedTlsVersion,
    server_name: Option<&'a str>,
    suites: &'a [u16],
    groups: &'a [u16],
) -> ClientHello<'a> {
    ClientHello {
        version,
        suites,
        server_name,
        groups,
        has_key_shares: false,
        offers_alpn: false,
        requests_ocsp: false,
        offers_compression: false,
        is_fallback: false,
    }
}
