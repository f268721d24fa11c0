//! Tests of the egress policy.

use proptest::prelude::*;

use super::super::effective_address;
use super::*;
use std::net::{Ipv4Addr, Ipv6Addr};

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn check(policy: &EgressPolicy, address: IpAddr) -> Result<(), EgressDenied> {
    policy.check(EgressPrincipal::Operator, address)
}

#[test]
fn every_built_in_rule_is_a_network() {
    let rules = EgressPolicy::default().rules.len();
    assert_eq!(rules, DENIED_BY_DEFAULT.len());
}

#[test]
fn the_default_denies_link_local_and_metadata_in_every_spelling() {
    let policy = EgressPolicy::default();
    let denied = [
        "169.254.0.1",
        "169.254.169.254",
        "fe80::1",
        "febf:ffff::1",
        "fd00:ec2::254",
        "fd20:ce::254",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "::ffff:169.254.169.254",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::168.63.129.16",
        "2002:a9fe:a9fe::1",
        "2002:a9fe:a9fe:1234:5678::",
        "::ffff:168.63.129.16",
        "2001:0:4136:e378:8000:63bf:5601:5601",
    ];
    for address in denied {
        let denial = check(&policy, ip(address)).unwrap_err();
        assert_eq!(denial.address(), ip(address));
        assert!(denial.to_string().contains(&ip(address).to_string()), "{denial}");
    }
    for address in ["127.0.0.1", "::1", "10.0.0.1", "192.0.2.1", "2001:db8::1", "fec0::1", "fd00:ec2::253"] {
        assert_eq!(check(&policy, ip(address)), Ok(()), "{address}");
    }
}

#[test]
fn the_longest_prefix_decides_and_deny_wins_a_tie() {
    let policy = EgressPolicy::parse(
        &["10.0.0.0/8", "169.254.7.0/24", "192.0.2.0/24", "168.63.129.16"],
        &["0.0.0.0/0", "10.9.0.0/16", "192.0.2.0/24"],
    )
    .unwrap();
    let cases = [
        ("10.1.2.3", true),
        ("10.9.2.3", false),
        ("169.254.7.7", true),
        ("169.254.8.7", false),
        ("168.63.129.16", true),
        ("192.0.2.1", false),
        ("8.8.8.8", false),
        ("::ffff:8.8.8.8", false),
        ("2001:db8::1", true),
    ];
    for (address, allowed) in cases {
        assert_eq!(check(&policy, ip(address)).is_ok(), allowed, "{address}");
    }
    let denied = check(&policy, ip("10.9.2.3")).unwrap_err().to_string();
    assert_eq!(denied, "`10.9.2.3` is denied by the egress rule `10.9.0.0/16`");
}

#[test]
fn the_unspecified_address_is_loopback() {
    let policy = EgressPolicy::parse(&[], &["127.0.0.0/8", "::1/128"]).unwrap();
    for address in ["0.0.0.0", "::", "127.1.2.3", "::1", "::ffff:0.0.0.0"] {
        assert!(check(&policy, ip(address)).is_err(), "{address}");
    }
}

#[test]
fn all_errors_of_both_lists_are_returned() {
    let errors = EgressPolicy::parse(&["10.0.0.1/8", "ok"], &["fe80::/200", "10.0.0.0/8"]).unwrap_err();
    assert_eq!(errors.len(), 3);
}

proptest! {
    #[test]
    fn no_spelling_of_a_denied_address_is_allowed(bits: u32, rest: [u16; 3], prefix in 0_u8..=32) {
        let v4 = Ipv4Addr::from_bits(bits);
        let policy = EgressPolicy::new(&[], &[IpNetwork::new(v4.into(), prefix)]);
        let [a, b, c, d] = v4.octets().map(u16::from);
        let (first, second) = (a << 8 | b, c << 8 | d);
        let [w, x, y] = rest;
        let spellings = [
            IpAddr::V4(v4),
            v4.to_ipv6_mapped().into(),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, first, second).into(),
            Ipv6Addr::new(0x64, 0xff9b, 1, w, x, y, first, second).into(),
            Ipv6Addr::new(0x2002, first, second, w, x, y, w, x).into(),
            Ipv6Addr::new(0x2001, 0, w, x, y, w, !first, !second).into(),
            Ipv6Addr::new(0xfe80, 0, 0, 0, 0x200, 0x5efe, first, second).into(),
        ];
        for spelling in spellings {
            prop_assert!(check(&policy, spelling).is_err(), "{}", spelling);
            if !v4.is_unspecified() {
                prop_assert_eq!(effective_address(spelling), IpAddr::V4(v4));
            }
        }
    }

    #[test]
    fn an_effective_address_is_its_own_effective_address(bits: u128) {
        let once = effective_address(Ipv6Addr::from_bits(bits).into());
        prop_assert_eq!(effective_address(once), once);
    }
}

fn account(number: i64) -> EgressPrincipal {
    EgressPrincipal::Account(CustomerId(number))
}

#[test]
fn the_own_host_is_denied_to_other_accounts_only() {
    let policy = EgressPolicy::default();
    for address in ["127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::", "::ffff:127.0.0.1", "64:ff9b::7f00:1"] {
        assert_eq!(policy.check(EgressPrincipal::Operator, ip(address)), Ok(()), "{address}");
        let denied = policy.check(account(2), ip(address)).unwrap_err();
        assert!(denied.to_string().ends_with("allow it for the account in `egress.accounts`"), "{denied}");
    }
    let own = [ip("192.0.2.7"), ip("2001:db8::7")].into();
    assert!(policy.check_with_own_addresses(account(2), ip("192.0.2.7"), &own).is_err());
    assert!(policy.check_with_own_addresses(account(2), ip("2002:c000:207::1"), &own).is_err());
    assert!(policy.check_with_own_addresses(account(2), ip("2001:db8::7"), &own).is_err());
    assert!(policy.check_with_own_addresses(account(2), ip("192.0.2.8"), &own).is_ok());
    assert!(policy.check_with_own_addresses(EgressPrincipal::Operator, ip("192.0.2.7"), &own).is_ok());
}

#[test]
fn accounts_are_allowed_one_by_one() {
    let [loopback, own, private] =
        ["127.0.0.0/8", "192.0.2.7", "169.254.7.0/24"].map(|text| text.parse::<IpNetwork>().unwrap());
    let policy = EgressPolicy::new(&[], &[])
        .with_accounts([(CustomerId(2), vec![loopback, private]), (CustomerId(3), vec![own])].into());
    let own = [ip("192.0.2.7")].into();
    let allowed = |principal, address| policy.check_with_own_addresses(principal, ip(address), &own).is_ok();
    assert!(allowed(account(2), "127.0.0.1") && !allowed(account(3), "127.0.0.1"));
    assert!(allowed(account(3), "192.0.2.7") && !allowed(account(2), "192.0.2.7"));
    assert!(allowed(account(2), "169.254.7.1") && !allowed(account(3), "169.254.7.1"));
    assert!(!allowed(EgressPrincipal::Operator, "169.254.7.1"));
    let strict = EgressPolicy::parse(&[], &["127.0.0.1"]).unwrap();
    let strict = strict.with_accounts([(CustomerId(2), vec![loopback])].into());
    assert!(strict.check(account(2), ip("127.0.0.1")).is_err(), "a longer deny rule decides");
}
