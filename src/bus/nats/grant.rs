//! What an agent gets when it enrols and when it renews: its token, and the data keys of its location. The form is JSON,
//! over HTTPS and over the bus alike.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nkeys::XKey;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::domain::{AgentId, LocationId, Timestamp};

/// Number of a data key of a location, from 1. The highest seals.
pub type DataKeyId = u32;

/// Most data keys in a grant.
const MAX_DATA_KEYS: usize = 1000;

/// What the control plane grants an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentGrant {
    /// Its id.
    pub agent_id: AgentId,
    /// Its location.
    pub location_id: LocationId,
    /// Its token for NATS.
    pub jwt: String,
    /// When the token expires.
    pub expires_at: Timestamp,
    /// URLs of the NATS servers.
    pub nats_urls: Vec<String>,
    /// Certificate of the authority of these servers, in PEM.
    pub nats_ca: String,
    /// X25519 key of the control plane, which wraps the data keys.
    pub control_key: String,
    /// Data keys of the location, wrapped for the agent.
    pub data_keys: Vec<WrappedDataKey>,
}

/// A data key in a box for one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrappedDataKey {
    /// Its number.
    pub id: DataKeyId,
    /// The box from the key of the control plane to that of the agent, as Base64.
    pub wrapped: String,
}

/// What an agent sends to renew its token over the bus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenewalRequest {
    /// Version of its program.
    #[serde(default)]
    pub version: String,
    /// The newest data key that it has; 0 when it has none.
    #[serde(default)]
    pub newest_data_key: DataKeyId,
}

/// Wraps `key` of `location` for `agent_key`, from `control_key`.
///
/// # Errors
/// Fails for a control key without its secret.
pub fn wrap_data_key(
    control_key: &XKey,
    agent_key: &XKey,
    location: LocationId,
    id: DataKeyId,
    key: &[u8; 32],
) -> Result<WrappedDataKey, String> {
    // Location and number are in the box, so that a key cannot be passed off as another one.
    let plain = Zeroizing::new([&location.0.to_be_bytes(), &id.to_be_bytes()[..], key].concat());
    let wrapped = control_key.seal(&plain, agent_key).map_err(|error| error.to_string())?;
    Ok(WrappedDataKey { id, wrapped: STANDARD.encode(wrapped) })
}

/// Opens the data keys of a grant with the key of the agent. Only boxes from `control_key` open.
///
/// # Errors
/// Fails when one is not for this agent, location and number, or there are too many.
pub fn unwrap_data_keys(
    agent_key: &XKey,
    control_key: &XKey,
    location: LocationId,
    wrapped_keys: &[WrappedDataKey],
) -> Result<BTreeMap<DataKeyId, Zeroizing<[u8; 32]>>, String> {
    if wrapped_keys.len() > MAX_DATA_KEYS {
        return Err(format!("there are more than {MAX_DATA_KEYS} data keys"));
    }
    wrapped_keys.iter().map(|wrapped| unwrap(agent_key, control_key, location, wrapped)).collect()
}

fn unwrap(
    agent_key: &XKey,
    control_key: &XKey,
    location: LocationId,
    wrapped: &WrappedDataKey,
) -> Result<(DataKeyId, Zeroizing<[u8; 32]>), String> {
    let error = || format!("the data key {} is not for this agent", wrapped.id);
    let sealed = STANDARD.decode(&wrapped.wrapped).map_err(|_| error())?;
    // What is shorter has no version and nonce, which nkeys expects.
    if sealed.len() < 28 {
        return Err(error());
    }
    let plain = Zeroizing::new(agent_key.open(&sealed, control_key).map_err(|_| error())?);
    let head = [&location.0.to_be_bytes(), &wrapped.id.to_be_bytes()[..]].concat();
    let body = plain.strip_prefix(head.as_slice()).ok_or_else(error)?;
    let mut key = Zeroizing::new([0; 32]);
    if body.len() != key.len() {
        return Err(error());
    }
    key.copy_from_slice(body);
    Ok((wrapped.id, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_key_opens_only_for_its_agent_location_number_and_sender() {
        let (control, agent, other) = (XKey::new(), XKey::new(), XKey::new());
        let wrapped = wrap_data_key(&control, &agent, LocationId(4), 2, &[7; 32]).unwrap();
        let keys = unwrap_data_keys(&agent, &control, LocationId(4), std::slice::from_ref(&wrapped)).unwrap();
        assert_eq!(keys.get(&2).map(|key| **key), Some([7; 32]));
        let fails = |agent: &XKey, control: &XKey, location, wrapped: &WrappedDataKey| {
            unwrap_data_keys(agent, control, location, std::slice::from_ref(wrapped)).is_err()
        };
        assert!(fails(&other, &control, LocationId(4), &wrapped));
        assert!(fails(&agent, &other, LocationId(4), &wrapped));
        assert!(fails(&agent, &control, LocationId(5), &wrapped));
        assert!(fails(&agent, &control, LocationId(4), &WrappedDataKey { id: 3, ..wrapped.clone() }));
        let sealed = STANDARD.decode(&wrapped.wrapped).unwrap();
        for length in 0..sealed.len() {
            let cut = WrappedDataKey { id: 2, wrapped: STANDARD.encode(&sealed[..length]) };
            assert!(fails(&agent, &control, LocationId(4), &cut), "{length} bytes");
        }
    }
}
