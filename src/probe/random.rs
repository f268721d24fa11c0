//! Random numbers for attempts.

/// What is left to chance in an attempt.
pub(super) fn random() -> u128 {
    let mut random = [0; 16];
    // Without chance, numbers that are made of it are zero: nothing depends on them being secret.
    let _ = aws_lc_rs::rand::fill(&mut random);
    u128::from_be_bytes(random)
}
