-- What the owners of tokens see of them, and what tokens of programs may do.

ALTER TABLE tokens ADD COLUMN name TEXT NOT NULL DEFAULT '';         -- of a program; empty for a login
ALTER TABLE tokens ADD COLUMN scopes INTEGER;                        -- bits; NULL: all that the user may do
ALTER TABLE tokens ADD COLUMN address TEXT NOT NULL DEFAULT '';      -- from where it was used last
ALTER TABLE tokens ADD COLUMN last_used_at INTEGER NOT NULL DEFAULT 0;
UPDATE tokens SET last_used_at = issued_at;
