//! Compares the sites of URLs, by the public suffix list.

use url::{Host, Url};

/// Whether `a` and `b` have the same registrable domain; addresses and names without one are compared as they are.
/// Scheme and port do not matter.
#[must_use]
pub fn is_same_site(a: &Url, b: &Url) -> bool {
    match (a.host(), b.host()) {
        (Some(Host::Domain(a)), Some(Host::Domain(b))) => {
            a == b || registrable_domain(a) == registrable_domain(b)
        }
        (a, b) => a == b,
    }
}

/// Returns the site of `url`: its registrable domain, or its host if it has none.
#[must_use]
pub fn site_of_url(url: &Url) -> Option<String> {
    match url.host()? {
        Host::Domain(name) => Some(registrable_domain(name).to_owned()),
        address => Some(address.to_string()),
    }
}

fn registrable_domain(name: &str) -> &str {
    let name_without_dot = name.strip_suffix('.').unwrap_or(name);
    psl::domain_str(name_without_dot).unwrap_or(name_without_dot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_are_compared_by_the_registrable_domain() {
        for (a, b, same) in [
            ("http://www.example.com/", "https://cdn.example.com:8443/x", true),
            ("http://example.com/", "http://example.com./", true),
            ("http://example.com/", "http://example.org/", false),
            ("http://a.co.uk/", "http://b.co.uk/", false),
            ("http://x.a.co.uk/", "http://a.co.uk/", true),
            ("http://a.github.io/", "http://b.github.io/", false),
            ("http://127.0.0.1:80/", "http://127.0.0.1:81/", true),
            ("http://127.0.0.1/", "http://127.0.0.2/", false),
            ("http://[::1]/", "http://127.0.0.1/", false),
            ("http://localhost/", "http://localhost:81/", true),
            ("http://shop/", "http://cdn/", false),
        ] {
            let (a, b) = (Url::parse(a).unwrap(), Url::parse(b).unwrap());
            assert_eq!(is_same_site(&a, &b), same, "{a} {b}");
        }
    }
}
