//! The bus over NATS JetStream: its subjects, and the keys and tokens that limit who may use them.

pub mod jwt;
pub mod subjects;
