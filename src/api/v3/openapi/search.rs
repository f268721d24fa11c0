//! Searches the reference: which calls and objects contain a text.

use super::html::escape;
use crate::api::operation::Operation;
use crate::schema::table::FieldTable;

/// Whether path, summary or name of a call contain `search`, or one of its parameters does.
pub(super) fn operation_matches(operation: &Operation, search: &str) -> bool {
    let params = operation.query_params.iter().chain(&operation.path_params);
    let texts = [operation.path, operation.summary, operation.operation_id, operation.tag];
    texts.into_iter().chain(params.map(|param| param.name)).any(|text| contains(text, search))
}

/// Whether name or description of an object contain `search`, or the name of one of its fields does.
pub(super) fn table_matches(table: &FieldTable, search: &str) -> bool {
    let fields = table.fields().iter().map(|field| field.name);
    [table.name, table.description].into_iter().chain(fields).any(|text| contains(text, search))
}

/// Whether `text` contains `search`, in letters of either case.
fn contains(text: &str, search: &str) -> bool {
    text.to_lowercase().contains(&search.to_lowercase())
}

/// Renders the form that searches, with what was found.
pub(super) fn render_form(search: &str, operation_count: usize, table_count: usize) -> String {
    let found = if search.is_empty() {
        String::new()
    } else {
        format!(
            "<p role=\"status\">{operation_count} calls and {table_count} objects contain <b>{}</b>. \
             <a href=\"/api/v3/docs\">All of them</a></p>\n",
            escape(search)
        )
    };
    format!(
        "<form class=\"search\" action=\"/api/v3/docs\" role=\"search\"><label for=\"q\">Search calls, objects and fields</label> \
         <input type=\"search\" id=\"q\" name=\"q\" value=\"{}\" maxlength=\"100\"> <button>Search</button></form>\n{found}",
        escape(search)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::table::records::PROPERTY;

    #[test]
    fn names_descriptions_and_fields_are_searched() {
        for search in ["property", "CUSTOM", "values"] {
            assert!(table_matches(&PROPERTY, search), "{search}");
        }
        assert!(!table_matches(&PROPERTY, "recipient"));
    }

    #[test]
    fn what_was_typed_is_escaped() {
        let form = render_form("<b>\"", 0, 0);
        assert!(!form.contains("<b>\"") && form.contains("&lt;b&gt;"), "{form}");
    }
}
