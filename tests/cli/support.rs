//! Targets for the built binary.

use vigie::targets::{BuiltInTargetAddresses, BuiltInTargetConfig, BuiltInTargets};

/// Running targets with their own runtime.
pub struct Targets {
    pub responder: BuiltInTargets,
    _runtime: tokio::runtime::Runtime,
}

impl Targets {
    pub fn start() -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let responder = runtime.block_on(BuiltInTargets::start(BuiltInTargetConfig::default())).unwrap();
        Self { responder, _runtime: runtime }
    }

    pub fn at(&self) -> BuiltInTargetAddresses {
        self.responder.addresses()
    }
}
