//! Secrets that a person typed into a form that is shown again: the browser keeps them sealed until the form is saved.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use zeroize::Zeroizing;

use super::monitor_service::MonitorService;
use crate::service::caller::Caller;
use crate::store::seal_context;

/// Seals `secret` for the person who typed it.
#[must_use]
pub fn seal_typed_secret(service: &MonitorService, caller: &Caller, secret: &str) -> String {
    STANDARD_NO_PAD.encode(service.dependencies.keyring.seal(&context(caller), secret.as_bytes()))
}

/// Opens what [`seal_typed_secret`] sealed for the same person; `None` for anything else, and after its key was removed.
#[must_use]
pub fn open_typed_secret(
    service: &MonitorService,
    caller: &Caller,
    sealed: &str,
) -> Option<Zeroizing<String>> {
    let sealed = STANDARD_NO_PAD.decode(sealed).ok()?;
    let plain = service.dependencies.keyring.open(&context(caller), &sealed).ok()?;
    std::str::from_utf8(&plain).ok().map(|secret| Zeroizing::new(secret.to_owned()))
}

fn context(caller: &Caller) -> String {
    seal_context(&format!("typed by {}", caller.login), caller.customer)
}
