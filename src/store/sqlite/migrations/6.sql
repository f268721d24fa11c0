-- Phases that only some kinds have (banner, auth, …), as JSON; none for most results.

ALTER TABLE results ADD COLUMN session TEXT;
