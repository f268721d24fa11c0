//! What somebody typed into a form and sent after the session had ended: it goes back to the browser sealed, until the person
//! has signed in again.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::Zeroizing;

use super::account_service::AccountService;
use crate::domain::CustomerId;
use crate::store::seal_context;

impl AccountService {
    /// Seals the body of a form for the browser that has the secret `browser`. The text can stand in a URL.
    #[must_use]
    pub fn seal_kept_form(&self, browser: &str, body: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.keyring.seal(&context(browser), body.as_bytes()))
    }

    /// Opens what [`AccountService::seal_kept_form`] sealed for the same browser; `None` for anything else, and after its key
    /// was removed.
    #[must_use]
    pub fn open_kept_form(&self, browser: &str, sealed: &str) -> Option<Zeroizing<String>> {
        let sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let body = self.keyring.open(&context(browser), &sealed).ok()?;
        std::str::from_utf8(&body).ok().map(|body| Zeroizing::new(body.to_owned()))
    }
}

/// Nobody is signed in: the form belongs to a browser, not to an account.
fn context(browser: &str) -> String {
    seal_context(&format!("form of the browser {browser}"), CustomerId::OPERATOR)
}
