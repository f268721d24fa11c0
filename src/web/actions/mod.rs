//! What a signed-in person does to a monitor from its page: pause, resume, run a check now.

mod buttons;
mod monitor_actions;
mod own_form;
mod push_token;
mod refusal;
mod state;
mod test_page;

pub(super) use buttons::render_buttons;
pub(super) use monitor_actions::{find_own, post_pause, post_resume, post_test};
pub(super) use own_form::{
    FormSender, FormSession, MAX_BUTTON_FORM_BYTES, MAX_MONITOR_FORM_BYTES, OwnForm, read_form_of_anybody,
    read_form_of_person, read_own_form,
};
pub(super) use push_token::post_push_token;
pub(super) use refusal::refused;
pub use state::ActionsState;
pub(super) use test_page::{get_draft_test_page, get_test_page, is_test_path, test_page_of};
