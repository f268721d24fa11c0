//! Lists as tables without borders, columns aligned.

use comfy_table::{Attribute, Cell, Color, ContentArrangement, Table, presets};

use super::style::Style;
use crate::domain::Outcome;

/// Renders `rows` under `column_names`, fitted to the width of a terminal, without trailing spaces.
pub(super) fn render_table(column_names: &[&str], rows: Vec<Vec<Cell>>, style: Style) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(column_names.iter().map(|head| head.to_uppercase()));
    table.add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    if style.is_colored() {
        table.enforce_styling();
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

/// Returns a cell with the name of `outcome`, in its colour when `style` is coloured.
pub(super) fn outcome_cell(outcome: Outcome, style: Style) -> Cell {
    let cell = Cell::new(outcome.name());
    if !style.is_colored() {
        return cell;
    }
    cell.add_attribute(Attribute::Bold).fg(match outcome {
        Outcome::Ok => Color::Green,
        Outcome::Warning => Color::Yellow,
        Outcome::Error => Color::Red,
        Outcome::Unknown => Color::Magenta,
        Outcome::Missed | Outcome::Blackout => Color::Blue,
    })
}

/// Returns a cell with a time without its fraction.
pub(super) fn time_cell(time: crate::domain::Timestamp) -> Cell {
    Cell::new(format_time_in_seconds(time))
}

/// Formats a time without its fraction.
pub(super) fn format_time_in_seconds(time: crate::domain::Timestamp) -> String {
    time.to_string().chars().take(19).collect::<String>().replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_have_no_trailing_spaces() {
        let rows = vec![
            vec![Cell::new("1"), outcome_cell(Outcome::Ok, Style::PLAIN)],
            vec![Cell::new("1000"), Cell::new("")],
        ];
        assert_eq!(render_table(&["id", "outcome"], rows, Style::PLAIN), "ID    OUTCOME\n1     ok\n1000\n");
    }

    #[test]
    fn outcomes_are_coloured_only_by_a_coloured_style() {
        let rows = || vec![vec![outcome_cell(Outcome::Error, Style::colored())]];
        assert!(render_table(&["outcome"], rows(), Style::colored()).contains("\x1b["));
        let plain = vec![vec![outcome_cell(Outcome::Error, Style::PLAIN)]];
        assert!(!render_table(&["outcome"], plain, Style::PLAIN).contains('\x1b'));
    }
}
