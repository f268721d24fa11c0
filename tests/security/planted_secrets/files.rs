//! Reads what a server keeps on disk.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// First bytes of a zstd frame (RFC 8878 3.1.1).
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// Most bytes of a blob that is unpacked.
const MAX_BLOB_BYTES: usize = 64 << 20;

/// Returns each file in `folder` but those that hold the keys of the server, by name.
pub fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map_while(Result::ok) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            files.extend(self::files(&entry.path()));
        } else if !["vigie.key", "host-token", "admin-password"].contains(&name.as_str()) {
            files.push((name, std::fs::read(entry.path()).unwrap_or_default()));
        }
    }
    files
}

/// Returns each text and blob in the database `path`, by table and column; blobs unpacked.
pub fn values(path: &Path) -> Vec<(String, Vec<u8>)> {
    let database = Connection::open(path).unwrap();
    let mut statement = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").unwrap();
    let tables: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut values = Vec::new();
    for table in tables {
        let mut statement = database.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let columns: Vec<String> = statement.column_names().iter().map(ToString::to_string).collect();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for (at, column) in columns.iter().enumerate() {
                let bytes = match row.get_ref(at).unwrap() {
                    ValueRef::Blob(bytes) if bytes.starts_with(ZSTD_MAGIC) => {
                        zstd::bulk::decompress(bytes, MAX_BLOB_BYTES).unwrap()
                    }
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
                    _ => continue,
                };
                values.push((format!("{table}.{column}"), bytes));
            }
        }
    }
    values
}
