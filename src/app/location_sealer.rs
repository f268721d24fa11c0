//! Seals the secrets in the messages of a location with its data keys.

use std::collections::BTreeMap;

use zeroize::Zeroizing;

use crate::bus::messages::{SealContext, Sealer};
use crate::bus::nats::DataKeyId;
use crate::domain::LocationId;
use crate::vault::Keyring;

/// Seals for the agents of one location, and opens there. The newest data key seals; all keys open.
pub struct LocationSealer {
    location: LocationId,
    keyring: Keyring,
}

impl LocationSealer {
    /// Creates the sealer of `location` at the control plane.
    #[must_use]
    pub fn new(location: LocationId, keyring: Keyring) -> Self {
        Self { location, keyring }
    }

    /// Creates the sealer of an agent of `location` with the data keys of its credential.
    #[must_use]
    pub fn from_data_keys(location: LocationId, keys: &BTreeMap<DataKeyId, Zeroizing<[u8; 32]>>) -> Self {
        Self::new(location, Keyring::from_keys(keys))
    }

    fn context(&self, context: SealContext, id: i64) -> String {
        format!("vigie/{}/{}/{id}", context.name(), self.location)
    }
}

impl Sealer for LocationSealer {
    fn seal(&self, context: SealContext, id: i64, plain: &[u8]) -> Vec<u8> {
        self.keyring.seal(&self.context(context, id), plain)
    }

    fn open(&self, context: SealContext, id: i64, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, String> {
        self.keyring.open(&self.context(context, id), sealed).map_err(|error| match error {
            crate::vault::VaultError::UnknownKey(key) => {
                format!(
                    "it was sealed with data key {key}, which this agent does not have; it renews its keys"
                )
            }
            other => other.to_string(),
        })
    }

    fn sealing_key(&self, sealed: &[u8]) -> u32 {
        // No key has the number 0.
        Keyring::sealing_key_id(sealed).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_value_opens_only_for_its_location_kind_and_id_and_with_its_key() {
        let keys = |numbers: &[u32]| -> BTreeMap<u32, Zeroizing<[u8; 32]>> {
            numbers.iter().map(|number| (*number, Zeroizing::new([number.to_le_bytes()[0]; 32]))).collect()
        };
        let sealer =
            |location, numbers: &[u32]| LocationSealer::from_data_keys(LocationId(location), &keys(numbers));
        let sealed = sealer(4, &[1]).seal(SealContext::Monitor, 7, b"secret");
        let opens = |sealer: &LocationSealer, context, id| sealer.open(context, id, &sealed).is_ok();
        assert!(opens(&sealer(4, &[1]), SealContext::Monitor, 7));
        assert!(opens(&sealer(4, &[1, 2]), SealContext::Monitor, 7), "an old key opens");
        assert!(!opens(&sealer(4, &[2]), SealContext::Monitor, 7), "without its key");
        assert!(!opens(&sealer(5, &[1]), SealContext::Monitor, 7));
        assert!(!opens(&sealer(4, &[1]), SealContext::Monitor, 8));
        assert!(!opens(&sealer(4, &[1]), SealContext::Certificate, 7));
        let newer = sealer(4, &[1, 2]).seal(SealContext::Monitor, 7, b"secret");
        assert!(
            sealer(4, &[1]).open(SealContext::Monitor, 7, &newer).is_err(),
            "the old key opened a newer one"
        );
    }
}
