//! An HTML token emitter without parse errors: nobody reads them, and detecting them doubles the time.

use html5gum::{Emitter, ForwardingEmitter};

/// Forwards all events except parse errors to the inner emitter.
pub(super) struct ErrorSkippingEmitter<E>(pub(super) E);

impl<E: Emitter> ForwardingEmitter for ErrorSkippingEmitter<E> {
    type Token = E::Token;

    fn inner(&mut self) -> &mut impl Emitter<Token = Self::Token> {
        &mut self.0
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }
}
