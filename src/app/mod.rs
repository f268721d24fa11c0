//! Settings, wiring and shutdown: the only place that knows every concrete type.

pub mod settings;
