//! HTML helpers of the page. Every text goes through [`escape`] or [`render_with_code`].

pub(super) use crate::domain::escape_html as escape;

/// Renders `text`, with parts in back-ticks as code.
pub(super) fn render_with_code(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(index, part)| {
        let part = escape(part);
        if index % 2 == 1 { format!("<code>{part}</code>") } else { part.into_owned() }
    });
    parts.collect()
}

/// Renders a path with its parameters marked and with line-break opportunities.
pub(super) fn render_path(path: &str) -> String {
    let render_segment = |part: &str| match part.strip_prefix('{') {
        Some(_) => format!("<i>{}</i>", escape(part)),
        None => escape(part).into_owned(),
    };
    path.split('/').skip(1).flat_map(|part| ["/<wbr>".to_owned(), render_segment(part)]).collect()
}

/// Renders a table; `rows` are cells of HTML.
pub(super) fn render_table(column_names: &[&str], rows: &[Vec<String>]) -> String {
    let header_cells: String =
        column_names.iter().flat_map(|column_name| ["<th>", column_name, "</th>"]).collect();
    let render_row = |row: &Vec<String>| {
        // Narrow windows show each row as a block, where each cell needs the name of its column.
        let cells = column_names
            .iter()
            .zip(row)
            .map(|(column_name, cell)| format!("<td data-h=\"{column_name}\">{cell}</td>"));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let rows: String = rows.iter().map(render_row).collect();
    format!(
        "<div class=\"scroll\"><table class=\"fields\"><thead><tr>{header_cells}</tr></thead>\n<tbody>{rows}</tbody></table></div>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_shows_as_code_and_paths_may_break() {
        assert_eq!(render_with_code("a `<b>` c"), "a <code>&lt;b&gt;</code> c");
        assert_eq!(render_path("/monitors/{id}"), "/<wbr>monitors/<wbr><i>{id}</i>");
    }
}
