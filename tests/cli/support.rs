//! Targets for the built binary.

use vigie::targets::{Responder, ResponderAddresses, ResponderConfig};

/// Running targets with their own runtime.
pub struct Targets {
    pub responder: Responder,
    _runtime: tokio::runtime::Runtime,
}

impl Targets {
    pub fn start() -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let responder = runtime.block_on(Responder::start(ResponderConfig::default())).unwrap();
        Self { responder, _runtime: runtime }
    }

    pub fn at(&self) -> ResponderAddresses {
        self.responder.addresses()
    }
}
