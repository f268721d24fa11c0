//! What a scan could not find out, in bounds.

/// Most questions of one scan.
const MAX_QUESTIONS: usize = 40;

/// Questions that stayed open, each once.
#[derive(Debug, Default)]
pub(super) struct OpenQuestions(Vec<String>);

impl OpenQuestions {
    /// Adds that `subject` is not known, for `reason`.
    pub(super) fn add(&mut self, subject: &str, reason: &str) {
        let question = format!("{subject}: {reason}");
        if self.0.len() < MAX_QUESTIONS && !self.0.contains(&question) {
            self.0.push(question);
        }
    }

    pub(super) fn into_texts(self) -> Vec<String> {
        self.0
    }
}
