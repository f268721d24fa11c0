//! The coverage table of the manual names collections that exist, and every one of them.

use std::collections::BTreeSet;

use super::case::NAMES;

#[test]
fn every_row_of_the_table_names_its_collection() {
    let page = include_str!("../../src/manual/formats.md");
    let table = page
        .split("<!-- coverage -->")
        .nth(1)
        .and_then(|rest| rest.split("<!-- end of coverage -->").next())
        .expect("the page has a coverage table");
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() >= 25, "{}", rows.len());
    let mut named = BTreeSet::new();
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let cell = cells.get(cells.len() - 2).unwrap();
        for name in cell.split(',').map(|name| name.trim().trim_matches('`')) {
            let is_own_test = ["collection::features", "collection::files"].contains(&name);
            assert!(is_own_test || NAMES.contains(&name), "`{name}` of `{row}` is no collection and no test");
            named.insert(name.to_owned());
        }
    }
    for name in NAMES {
        assert!(named.contains(name), "no row names `{name}`");
    }
}
