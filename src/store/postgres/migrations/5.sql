-- The last write of each session: it tells after a crash of the server whether a commit without a reply was kept.
CREATE TABLE last_writes (
    backend INTEGER PRIMARY KEY, -- process id of the session at the server; a later one with that id replaces the row
    write_id UUID NOT NULL
);
