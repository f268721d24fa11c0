//! With the real engine.
