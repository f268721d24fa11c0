//! A collection, an environment and rows of data from anybody: read without a panic, and each request rendered.

use vigie::collection::{
    RenderContext, ScopeKind, VariableScopes, convert_to_steps, parse_collection, parse_data_rows, parse_variable_file, render_request,
    secret_text,
};
use vigie::domain::Timestamp;

pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = parse_data_rows(&text);
    let masked = secret_text::mask_secrets(&text);
    let _ = secret_text::restore_masked_secrets(&masked, Some(&text));
    let mut scopes = VariableScopes::default();
    if let Ok(file) = parse_variable_file(&text) {
        scopes.set_entries(ScopeKind::Environment, file.variables);
    }
    let Ok(collection) = parse_collection(&text) else { return };
    let _ = convert_to_steps(&collection, scopes.entries(ScopeKind::Environment));
    scopes.set_entries(ScopeKind::Collection, collection.variables.clone());
    for item in collection.requests.iter().take(20) {
        let cx = RenderContext {
            scopes: &scopes,
            files: &[],
            boundary: "B",
            now: Timestamp::from_micros(1_800_000_000_000_000),
        };
        let _ = render_request(&item.request, item.auth.as_deref(), &item.behavior, cx);
    }
}
