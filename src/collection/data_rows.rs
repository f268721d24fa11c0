//! The rows of data that a collection is run with: one iteration for each.

use serde_json::{Map, Value};

use crate::syntax::node::Node;

/// Most rows of data.
pub const MAX_DATA_ROWS: usize = 500;

/// Reads a JSON list of objects, or CSV with a head line. No rows mean one iteration without data.
///
/// # Errors
/// Fails with the reason, and the line where it is known.
pub fn parse_data_rows(text: &str) -> Result<Vec<Vec<(String, Value)>>, String> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let rows = if text.starts_with(['[', '{']) { json_rows(text)? } else { csv_rows(text)? };
    if rows.len() > MAX_DATA_ROWS {
        return Err(format!("{} rows, more than {MAX_DATA_ROWS}", rows.len()));
    }
    Ok(rows)
}

fn json_rows(text: &str) -> Result<Vec<Vec<(String, Value)>>, String> {
    let root = Node::from_json_with_positions(text)
        .map_err(|error| format!("{}:{}: {}", error.position.line, error.position.column, error.message))?;
    let Value::Array(rows) = root.to_json() else {
        return Err("1:1: it is no list of objects".to_owned());
    };
    let to_row = |(index, row): (usize, Value)| {
        if let Value::Object(row) = row {
            return Ok(row.into_iter().collect());
        }
        let position = root.items()[index].position;
        Err(format!("{}:{}: a row that is no object", position.line, position.column))
    };
    rows.into_iter().enumerate().map(to_row).collect()
}

fn csv_rows(text: &str) -> Result<Vec<Vec<(String, Value)>>, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| error.to_string())?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let cells: Map<String, Value> =
            headers.iter().zip(&record).map(|(name, cell)| (name.to_owned(), Value::from(cell))).collect();
        rows.push(cells.into_iter().collect());
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_and_csv_are_read() {
        let rows = parse_data_rows("[{\"a\": 1, \"b\": \"x\"}, {}]").unwrap();
        assert_eq!(rows, [vec![("a".to_owned(), json!(1)), ("b".to_owned(), json!("x"))], vec![]]);
        let rows = parse_data_rows("name,note\nanna,\"a, \"\"b\"\"\"\nben, 2\n").unwrap();
        assert_eq!(rows[0], [("name".to_owned(), json!("anna")), ("note".to_owned(), json!("a, \"b\""))]);
        assert_eq!(rows[1][1].1, json!("2"));
        assert_eq!(parse_data_rows(""), Ok(vec![]));
    }

    #[test]
    fn broken_rows_name_their_place() {
        for (text, expected) in [
            ("[1]", "1:2: a row that is no object"),
            ("{}", "1:1: it is no list of objects"),
            ("a,b\n1,2,3", "line: 2"),
            (&format!("a\n{}", "1\n".repeat(501)), "501 rows, more than 500"),
        ] {
            let error = parse_data_rows(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
