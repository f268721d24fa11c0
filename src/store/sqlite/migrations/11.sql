-- What rollups hold beside durations: phases, user experience and content views, in the form of rollup/parts_codec.rs.
-- NULL: none, or written by an older version.

ALTER TABLE rollups ADD COLUMN parts BLOB;
