//! Random numbers for attempts.

/// Returns a random number.
pub(super) fn random_u128() -> u128 {
    let mut bytes = [0; 16];
    // Without entropy the result is 0. Nothing depends on its secrecy.
    let _ = aws_lc_rs::rand::fill(&mut bytes);
    u128::from_be_bytes(bytes)
}
