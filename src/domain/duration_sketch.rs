//! A sketch of durations, for percentiles.

use std::fmt::{self, Debug, Display};

use sketches_ddsketch::{Config, DDSketch};

/// Largest relative error of a percentile: 1 %. Merging sketches does not increase it.
pub const SKETCH_RELATIVE_ERROR: f64 = 0.01;

/// The percentiles that are reported, as fractions.
const PERCENTILES: [f64; 5] = [0.50, 0.75, 0.90, 0.95, 0.99];

/// A sketch of durations of at most 2,048 bins, whatever their number.
#[derive(Clone, Default)]
pub struct DurationSketch(Option<Box<DDSketch>>);

impl DurationSketch {
    /// Adds a duration in microseconds.
    pub fn add(&mut self, duration_us: u64) {
        self.0.get_or_insert_with(new_sketch).add(duration_us as f64);
    }

    /// Adds the durations of another sketch.
    pub fn merge(&mut self, other: &Self) {
        if let Some(added) = &other.0 {
            // Fails only for sketches with different settings; there is only one kind here.
            let _ = self.0.get_or_insert_with(new_sketch).merge(added);
        }
    }

    /// Returns the percentiles 50, 75, 90, 95 and 99 in microseconds; `None` without durations.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "durations: positive, below 2^53"
    )]
    pub fn percentiles_us(&self) -> Option<[u64; 5]> {
        let sketch = self.0.as_ref()?;
        let mut values = [0; 5];
        for (value, quantile) in values.iter_mut().zip(PERCENTILES) {
            *value = sketch.quantile(quantile).ok()??.round() as u64;
        }
        Some(values)
    }

    /// Encodes it; `None` without durations.
    #[must_use]
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        self.0.as_ref().map(|sketch| sketch.to_java_bytes())
    }

    /// Decodes what [`DurationSketch::to_bytes`] returned.
    ///
    /// # Errors
    /// Returns what is wrong with the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, impl Debug + Display + use<>> {
        DDSketch::from_java_bytes(bytes).map(|sketch| Self(Some(Box::new(sketch))))
    }
}

impl Debug for DurationSketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DurationSketch").field(&self.percentiles_us()).finish()
    }
}

/// Sketches are equal when their percentiles are.
impl PartialEq for DurationSketch {
    fn eq(&self, other: &Self) -> bool {
        self.percentiles_us() == other.percentiles_us()
    }
}

impl Eq for DurationSketch {}

fn new_sketch() -> Box<DDSketch> {
    // The compact form stores no settings, so they must stay the defaults: a relative error of 1 % and 2,048 bins.
    // These cover 1 to 10^17 microseconds.
    Box::new(DDSketch::new(Config::default()))
}
