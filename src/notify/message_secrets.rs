//! The secrets that a receiver may repeat in its response.

use url::Url;

use super::outgoing_message::OutgoingMessage;
use crate::domain::NotificationMethod;
use crate::redaction::redactor::{Redactor, SecretSet};

/// Shortest part of the path of a URL that is masked by itself, in bytes: webhooks have their token there.
const MIN_PATH_SECRET_BYTES: usize = 16;

/// Returns the redactor of the secrets in `message`: the credential and, as it is one for many receivers, the address.
pub(super) fn message_redactor(message: &OutgoingMessage) -> Redactor {
    let mut secrets = SecretSet::default();
    let recipient = &message.recipient;
    secrets.add_login(&recipient.username, &message.credential.0);
    match recipient.method {
        NotificationMethod::MailText | NotificationMethod::MailHtml | NotificationMethod::Sms => {}
        // The user name is the community.
        NotificationMethod::SnmpV1 | NotificationMethod::SnmpV2c => secrets.add(&recipient.username),
        _ => add_url_secrets(&mut secrets, &recipient.address),
    }
    secrets.into_redactor()
}

/// Returns the redactor of `logins`, each a user name and a password, and of the secrets in `url`.
pub(super) fn settings_redactor<'a>(
    logins: impl IntoIterator<Item = (&'a str, &'a str)>,
    url: Option<&str>,
) -> Redactor {
    let mut secrets = SecretSet::default();
    for (username, password) in logins {
        secrets.add_login(username, password);
    }
    if let Some(url) = url {
        add_url_secrets(&mut secrets, url);
    }
    secrets.into_redactor()
}

/// Returns the redactor of the secrets in `url`.
pub(super) fn url_redactor(url: &str) -> Redactor {
    let mut secrets = SecretSet::default();
    add_url_secrets(&mut secrets, url);
    secrets.into_redactor()
}

/// Adds the secrets in `url`: the login, the values of the query and the long parts of the path.
fn add_url_secrets(secrets: &mut SecretSet, url: &str) {
    let Ok(url) = Url::parse(url.trim()) else { return };
    let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let (user, password) = (decode(url.username()), url.password().map(decode).unwrap_or_default());
    secrets.add(if password.is_empty() { &user } else { &password });
    secrets.add_login(&user, &password);
    url.query_pairs().for_each(|(_, value)| secrets.add(&value));
    let parts = url.path_segments().into_iter().flatten().map(decode);
    parts.filter(|part| part.len() >= MIN_PATH_SECRET_BYTES).for_each(|part| secrets.add(&part));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secrets_of_a_webhook_are_masked_and_its_host_is_not() {
        let redactor = url_redactor("https://me:p%40ss@a.test/hook/0123456789abcdef/x?k=v4lue");
        let text = "a.test/hook/0123456789abcdef/x?k=v4lue p@ss me:p@ss";
        assert_eq!(redactor.redact(text), "a.test/hook/********/x?k=******** ******** ********");
    }
}
