//! Who writes to the database: a trigger notes for each change which connection made it, and who leads then.

use std::collections::BTreeMap;

use sqlx::Row;

use super::world::{CONTROLLERS, World};

const TRIGGERS: [&str; 5] = [
    "CREATE TABLE noted_writers (at BIGINT NOT NULL, holder TEXT NOT NULL, client_port INTEGER NOT NULL, what TEXT NOT NULL)",
    "CREATE FUNCTION note_writer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         INSERT INTO noted_writers
             SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, holder, inet_client_port(), TG_TABLE_NAME
             FROM controller_lease ORDER BY epoch DESC LIMIT 1;
         RETURN NULL;
     END $$",
    "CREATE TRIGGER note_writer AFTER INSERT ON results FOR EACH STATEMENT EXECUTE FUNCTION note_writer()",
    "CREATE TRIGGER note_writer AFTER INSERT OR UPDATE ON notifications FOR EACH STATEMENT EXECUTE FUNCTION note_writer()",
    "CREATE TRIGGER note_writer AFTER INSERT OR UPDATE ON episodes FOR EACH STATEMENT EXECUTE FUNCTION note_writer()",
];

/// Begins to note who writes.
pub fn note_writers(world: &World) {
    for statement in TRIGGERS {
        world.rows(statement);
    }
}

/// Returns how many changes each controller made as the leader, and describes those that another one made.
pub fn examine(world: &World) -> (BTreeMap<String, usize>, Vec<String>) {
    let ports = world.controllers.iter().map(|controller| controller.door.client_ports());
    let ports: Vec<_> = ports.zip(CONTROLLERS).collect();
    let (mut changes, mut wrong) = (BTreeMap::new(), Vec::new());
    for row in world.rows("SELECT holder, client_port, what FROM noted_writers ORDER BY at") {
        let (holder, port, what): (String, i32, String) = (row.get(0), row.get(1), row.get(2));
        let port = u16::try_from(port).unwrap();
        let is_of = |name: &str| ports.iter().any(|(ports, owner)| *owner == name && ports.contains(&port));
        if is_of(&holder) {
            *changes.entry(holder).or_default() += 1;
        } else {
            wrong.push(format!("{what} was changed at port {port} while `{holder}` led"));
        }
    }
    (changes, wrong)
}
