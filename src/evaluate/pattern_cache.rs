//! Compiled patterns of one account, kept between checks within a bound. A pattern is compiled when a check first
//! needs it: monitors that are only stored take no memory for their patterns.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::domain::{CustomerId, Failure, FailureKind, Phase};
use crate::sync::Mutex;
use crate::syntax::pattern::{CompiledPattern, HaystackKind, PatternError};

/// Maximum size of the compiled patterns of one account, in bytes.
const MAX_ACCOUNT_BYTES: usize = 8 * 1024 * 1024;
/// Memory of an entry beside its pattern and its key, in bytes.
const ENTRY_BYTES: usize = 256;

/// Distinguishes patterns of the same source that are compiled differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum PatternVariant {
    /// As [`CompiledPattern::new`] compiles it.
    Plain(HaystackKind),
    /// Rewritten by a keyword rule with these flags.
    Keyword(u8),
}

/// The caches of all accounts.
#[derive(Debug, Default)]
pub struct PatternCaches {
    accounts: Mutex<HashMap<CustomerId, Arc<PatternCache>>>,
}

impl PatternCaches {
    /// Returns the cache of an account.
    #[must_use]
    pub fn cache_for_account(&self, customer: CustomerId) -> Arc<PatternCache> {
        Arc::clone(self.accounts.lock().entry(customer).or_default())
    }
}

/// The compiled patterns of one account; the least recently used ones are dropped.
#[derive(Default)]
pub struct PatternCache {
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    by_source: HashMap<Box<str>, Vec<Entry>>,
    total_bytes: usize,
    /// Number of uses and insertions so far: the clock of `last_used`.
    use_count: u64,
}

struct Entry {
    variant: PatternVariant,
    pattern: CompiledPattern,
    bytes: usize,
    /// `use_count` at its last use.
    last_used: u64,
}

impl fmt::Debug for PatternCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PatternCache")
            .field("total_bytes", &self.entries.lock().total_bytes)
            .finish_non_exhaustive()
    }
}

impl PatternCache {
    /// Returns the compiled pattern of `source`.
    ///
    /// # Errors
    /// As [`CompiledPattern::new`].
    pub fn compile(
        &self,
        source: &str,
        haystack_kind: HaystackKind,
    ) -> Result<CompiledPattern, PatternError> {
        self.get_or_compile(source, PatternVariant::Plain(haystack_kind), || {
            CompiledPattern::new(source, haystack_kind)
        })
    }

    /// Returns the pattern of `source` and `variant`; compiles it with `compile` if it is not kept.
    pub(super) fn get_or_compile(
        &self,
        source: &str,
        variant: PatternVariant,
        compile: impl FnOnce() -> Result<CompiledPattern, PatternError>,
    ) -> Result<CompiledPattern, PatternError> {
        if let Some(pattern) = self.entries.lock().get(source, variant) {
            return Ok(pattern);
        }
        // Without the lock, since it takes milliseconds. Two checks may compile the same pattern then, and both are
        // kept until one is dropped.
        let pattern = compile()?;
        self.entries.lock().insert(source, variant, pattern.clone());
        Ok(pattern)
    }

    /// Returns the memory that its patterns take, in bytes.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        self.entries.lock().total_bytes
    }
}

/// Returns the failure of a stored pattern that cannot be used. `field_text` names its field.
#[must_use]
pub fn pattern_failure(phase: Phase, field_text: &str, error: &PatternError) -> Failure {
    let kind = match error {
        PatternError::Syntax(_) => FailureKind::Internal,
        PatternError::SourceTooLarge(_) | PatternError::CompiledTooLarge => FailureKind::PatternTooLarge,
    };
    Failure::new(phase, kind, format!("{field_text} cannot be used: {error}"))
}

impl Entries {
    fn get(&mut self, source: &str, variant: PatternVariant) -> Option<CompiledPattern> {
        let entry = self.by_source.get_mut(source)?.iter_mut().find(|entry| entry.variant == variant)?;
        self.use_count += 1;
        entry.last_used = self.use_count;
        Some(entry.pattern.clone())
    }

    fn insert(&mut self, source: &str, variant: PatternVariant, pattern: CompiledPattern) {
        let bytes = pattern.memory_bytes() + source.len() + ENTRY_BYTES;
        self.total_bytes += bytes;
        self.use_count += 1;
        let entry = Entry { variant, pattern, bytes, last_used: self.use_count };
        self.by_source.entry(source.into()).or_default().push(entry);
        if self.total_bytes > MAX_ACCOUNT_BYTES {
            self.shrink();
        }
    }

    /// Drops the least recently used patterns until a quarter of the bound is free, so that the next patterns need no
    /// search for the oldest.
    fn shrink(&mut self) {
        let mut last_uses_and_sizes: Vec<(u64, usize)> =
            self.by_source.values().flatten().map(|entry| (entry.last_used, entry.bytes)).collect();
        last_uses_and_sizes.sort_unstable_by_key(|&(last_used, _)| std::cmp::Reverse(last_used));
        let mut kept_bytes = 0;
        let oldest_kept = last_uses_and_sizes
            .iter()
            .take_while(|(_, bytes)| {
                kept_bytes += bytes;
                kept_bytes <= MAX_ACCOUNT_BYTES / 4 * 3
            })
            .last()
            .map_or(u64::MAX, |&(last_used, _)| last_used);
        self.by_source.retain(|_, entries| {
            entries.retain(|entry| entry.last_used >= oldest_kept);
            !entries.is_empty()
        });
        self.total_bytes = self.by_source.values().flatten().map(|entry| entry.bytes).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_an_account_is_bounded_and_used_patterns_stay() {
        let caches = PatternCaches::default();
        let cache = caches.cache_for_account(CustomerId(2));
        let large = |index: u32| format!("{index}[a-z0-9]{{2000}}");
        let mut compiled_count = 0;
        let mut compile = |source: &str| {
            let variant = PatternVariant::Plain(HaystackKind::Text);
            cache.get_or_compile(source, variant, || {
                compiled_count += 1;
                CompiledPattern::new(source, HaystackKind::Text)
            })
        };
        for index in 0..400 {
            compile("used").unwrap();
            assert!(compile(&large(index)).unwrap().memory_bytes() > 100_000);
            assert!(cache.total_bytes() <= MAX_ACCOUNT_BYTES, "{index}: {}", cache.total_bytes());
        }
        assert_eq!(compiled_count, 401);
        assert!(cache.total_bytes() > MAX_ACCOUNT_BYTES / 2);
        assert_eq!(caches.cache_for_account(CustomerId(3)).total_bytes(), 0);
    }
}
