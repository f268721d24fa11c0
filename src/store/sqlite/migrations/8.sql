-- How long the full page took, in microseconds; none for most results.

ALTER TABLE results ADD COLUMN page_us INTEGER;
