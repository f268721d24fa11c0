//! Parser of monitor types on the command line.

use crate::domain::MonitorType;
use crate::syntax::closest_match;

/// Names that people give to types, each with the types that they may mean.
const ALIASES: &[(&str, &[MonitorType])] = &[
    ("http", &[MonitorType::Website, MonitorType::WebsiteSsl]),
    ("https", &[MonitorType::WebsiteSsl]),
    ("web", &[MonitorType::Website, MonitorType::WebsiteSsl]),
    ("url", &[MonitorType::Website, MonitorType::WebsiteSsl]),
    ("ssl", &[MonitorType::WebsiteSsl]),
    ("tls", &[MonitorType::WebsiteSsl]),
    ("certificate", &[MonitorType::WebsiteSsl]),
    ("rest", &[MonitorType::WebsiteApi, MonitorType::WebsiteSslApi]),
    ("dns", &[MonitorType::NameServer]),
    ("icmp", &[MonitorType::Ping]),
    ("port", &[MonitorType::Tcp]),
    ("smtp", &[MonitorType::EmailSmtp]),
    ("mail", &[MonitorType::EmailSmtp, MonitorType::EmailRoundTrip]),
    ("imap", &[MonitorType::EmailImap]),
    ("pop", &[MonitorType::EmailPop]),
    ("pop3", &[MonitorType::EmailPop]),
    ("ftps", &[MonitorType::FtpSsl]),
    ("browser", &[MonitorType::BrowserScript]),
    ("postman", &[MonitorType::CollectionApi]),
    ("soapui", &[MonitorType::ApiProject]),
    ("scan", &[MonitorType::SecurityScan]),
    ("host", &[MonitorType::HostAgent]),
    ("push", &[MonitorType::HostAgent]),
];

/// Returns the type with the version 3 name `name`; otherwise an error that suggests the closest ones.
pub(super) fn parse_monitor_type(name: &str) -> Result<MonitorType, String> {
    MonitorType::from_name(name).ok_or_else(|| {
        let hint = match closest_types(name).as_slice() {
            [] => "`vigie fields` lists the types".to_owned(),
            types => {
                let names: Vec<String> = types.iter().map(|found| format!("`{found}`")).collect();
                format!("did you mean {}?", names.join(" or "))
            }
        };
        format!("unknown monitor type `{name}`\nhint: {hint}")
    })
}

/// Returns the type called `name`, or those that it is another name of.
pub(super) fn exact_types(name: &str) -> Vec<MonitorType> {
    let by_alias = || ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, types)| types.to_vec());
    MonitorType::from_name(name).map(|found| vec![found]).or_else(by_alias).unwrap_or_default()
}

/// Returns the types with the name, or another name, that is the most like `name`.
fn closest_types(name: &str) -> Vec<MonitorType> {
    let lower_case = name.to_lowercase();
    let known = ALIASES.iter().map(|(alias, _)| *alias);
    // The last of equals counts, and the names of types are better than other names.
    let known = known.chain(MonitorType::ALL.iter().map(|monitor_type| monitor_type.name()));
    let exact = exact_types(&lower_case);
    if exact.is_empty() {
        closest_match(&lower_case, known).map(exact_types).unwrap_or_default()
    } else {
        exact
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_type_gets_the_closest_one() {
        for (name, hint) in [
            ("htp", "did you mean `website` or `website-ssl`?"),
            ("HTTP", "did you mean `website` or `website-ssl`?"),
            ("https", "did you mean `website-ssl`?"),
            ("webiste", "did you mean `website`?"),
            ("name_server", "did you mean `name-server`?"),
            ("dns", "did you mean `name-server`?"),
            ("Tcp", "did you mean `tcp`?"),
            ("qqqq", "`vigie fields` lists the types"),
        ] {
            let error = parse_monitor_type(name).unwrap_err();
            assert_eq!(error, format!("unknown monitor type `{name}`\nhint: {hint}"));
        }
    }

    #[test]
    fn no_alias_is_the_name_of_a_type() {
        assert!(ALIASES.iter().all(|(alias, _)| MonitorType::from_name(alias).is_none()));
    }
}
