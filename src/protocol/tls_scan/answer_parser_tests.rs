//! Tests of the parser of answers with bytes.
