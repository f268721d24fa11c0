//! Sealing of the secrets in messages: the bus carries them sealed only.

use zeroize::Zeroizing;

/// What a sealed value belongs to, so that it cannot be passed off as another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealContext {
    /// The secrets of a monitor.
    Monitor,
    /// The PEM text of a certificate.
    Certificate,
}

impl SealContext {
    /// Returns its stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Monitor => "bus monitor",
            Self::Certificate => "bus certificate",
        }
    }
}

/// Seals for the agents of one location, and opens there.
pub trait Sealer: Send + Sync + 'static {
    /// Seals `plain`; `id` is that of the monitor or certificate.
    fn seal(&self, context: SealContext, id: i64, plain: &[u8]) -> Vec<u8>;

    /// Opens what [`Sealer::seal`] returned for the same context and id.
    ///
    /// # Errors
    /// Fails for anything else, with the reason.
    fn open(&self, context: SealContext, id: i64, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, String>;

    /// Returns the number of the key that sealed `sealed`. What another key sealed is sealed again and published again
    /// after the keys have changed.
    fn sealing_key(&self, sealed: &[u8]) -> u32;
}
