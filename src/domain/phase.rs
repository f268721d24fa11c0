//! The phases of an attempt and their durations.

use std::time::Duration;

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! phases {
    ($($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)?) => {
        /// A part of an attempt, in the order in which they happen (behaviour.md 3).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Phase { $($(#[$doc])* $variant),+ }

        impl Phase {
            /// Every phase, in the order in which they happen.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name used in JSON (`<name>_us`), metrics and terminal output.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// Returns the key of this phase in JSON.
            #[must_use]
            pub const fn key(self) -> &'static str {
                match self { $(Self::$variant => concat!($name, "_us")),+ }
            }
        }
    };
}

phases! {
    /// Before anything is sent: building the request, waiting for a permit.
    Prepare = "prepare",
    /// Resolving the name to addresses.
    Resolve = "resolve",
    /// TCP handshake, or the first reply of a connectionless protocol.
    Connect = "connect",
    /// Round trip of an ICMP echo, the mean of those of an attempt.
    Echo = "echo",
    /// TLS handshake, certificate checks included.
    Tls = "tls",
    /// Until the greeting of a mail or FTP server.
    Banner = "banner",
    /// EHLO, or HELO, of SMTP.
    Ehlo = "ehlo",
    /// Query of the server's capabilities: CAPA, CAPABILITY, FEAT.
    Capability = "capability",
    /// Request to continue with TLS: STARTTLS, STLS, AUTH TLS; the handshake itself is `tls`.
    Starttls = "starttls",
    /// Login.
    Auth = "auth",
    /// Opening the mailbox: SELECT, STAT.
    Select = "select",
    /// Until the last byte of the request is passed to the kernel.
    Send = "send",
    /// Until the first byte of the response.
    FirstByte = "first_byte",
    /// From the first to the last byte of the response.
    Transfer = "transfer",
    /// Opening data connections of FTP: EPSV or PASV, the connection and its TLS.
    OpenDataConnection = "passive",
    /// LIST of FTP, from the command to the reply that ends it.
    List = "list",
    /// STOR of FTP, likewise.
    Upload = "upload",
    /// RETR of FTP, likewise.
    Download = "download",
    /// DELE of FTP or POP3.
    Delete = "delete",
    /// Submission of a message, from MAIL to the reply to its last line.
    Submit = "deliver",
    /// From the end of `Submit` until the message appears in the mailbox.
    Transit = "transit",
    /// Reading a message out of the mailbox.
    Fetch = "fetch",
    /// Orderly end of the session: QUIT, LOGOUT.
    Quit = "quit",
    /// Starting a browser and its session.
    Launch = "launch",
    /// From the start of a navigation until the page is first painted.
    FirstPaint = "first_paint",
    /// From the start of a navigation until the document is parsed: `DOMContentLoaded`.
    DomLoad = "dom_load",
    /// From the start of a navigation until the page is loaded: the event `load`.
    PageLoad = "page_load",
    /// Running a script, from its first action to the end of the last.
    RunScript = "play",
    /// Evaluating rules: keyword, assertions, certificate dates.
    Validate = "validate",
}

impl Phase {
    /// Phases that most monitor types have: each is a column of its own in the store. The others occur with few types
    /// and share one column.
    pub const COMMON: [Self; 8] = [
        Self::Prepare,
        Self::Resolve,
        Self::Connect,
        Self::Tls,
        Self::Send,
        Self::FirstByte,
        Self::Transfer,
        Self::Validate,
    ];
}

const PHASE_COUNT: usize = Phase::ALL.len();
/// Stands for the duration of a phase that was not reached.
const NOT_REACHED: u32 = u32::MAX;

/// Durations by phase, each up to 71 minutes, in microseconds. A phase that was not reached has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phases([u32; PHASE_COUNT]);

impl Default for Phases {
    fn default() -> Self {
        Self([NOT_REACHED; PHASE_COUNT])
    }
}

impl Phases {
    /// Sets the duration of `phase`.
    pub fn set(&mut self, phase: Phase, duration: Duration) {
        self.0[phase as usize] =
            u32::try_from(duration.as_micros()).unwrap_or(NOT_REACHED - 1).min(NOT_REACHED - 1);
    }

    /// Adds to the duration of `phase`, for a phase with several parts or hops.
    pub fn add(&mut self, phase: Phase, duration: Duration) {
        self.set(phase, duration + self.duration(phase).unwrap_or_default());
    }

    /// Adds every phase of `other`, for totals over redirect hops.
    pub fn merge(&mut self, other: &Self) {
        for (phase, micros) in other.iter() {
            self.add(phase, Duration::from_micros(u64::from(micros)));
        }
    }

    /// Returns the microseconds of `phase`, if it was reached.
    #[must_use]
    pub fn micros(&self, phase: Phase) -> Option<u32> {
        Some(self.0[phase as usize]).filter(|&micros| micros != NOT_REACHED)
    }

    /// Returns the duration of `phase`, if it was reached.
    #[must_use]
    pub fn duration(&self, phase: Phase) -> Option<Duration> {
        self.micros(phase).map(|micros| Duration::from_micros(u64::from(micros)))
    }

    /// Returns the phases without those of [`Phase::COMMON`].
    #[must_use]
    pub fn without_common(&self) -> Self {
        let mut uncommon = *self;
        for phase in Phase::COMMON {
            uncommon.0[phase as usize] = NOT_REACHED;
        }
        uncommon
    }

    /// Whether no phase was reached.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [NOT_REACHED; PHASE_COUNT]
    }

    /// Iterates over the phases that were reached, in their order, with their microseconds.
    pub fn iter(&self) -> impl Iterator<Item = (Phase, u32)> + '_ {
        Phase::ALL.into_iter().filter_map(|phase| self.micros(phase).map(|micros| (phase, micros)))
    }
}

impl Serialize for Phases {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (phase, micros) in self.iter() {
            map.serialize_entry(phase.key(), &micros)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Phases {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = std::collections::BTreeMap::<String, u32>::deserialize(deserializer)?;
        let mut phases = Self::default();
        for phase in Phase::ALL {
            if let Some(&micros) = map.get(phase.key()) {
                phases.set(phase, Duration::from_micros(u64::from(micros)));
            }
        }
        Ok(phases)
    }
}

impl Serialize for Phase {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Phase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::ALL
            .into_iter()
            .find(|phase| phase.name() == text)
            .ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not a phase")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_survive_json_and_leave_out_what_was_not_reached() {
        let mut phases = Phases::default();
        phases.set(Phase::Resolve, Duration::from_micros(12));
        phases.add(Phase::Connect, Duration::from_micros(30));
        phases.add(Phase::Connect, Duration::from_micros(4));
        let json = serde_json::to_string(&phases).unwrap();
        assert_eq!(json, r#"{"resolve_us":12,"connect_us":34}"#);
        assert_eq!(serde_json::from_str::<Phases>(&json).unwrap(), phases);
    }
}
