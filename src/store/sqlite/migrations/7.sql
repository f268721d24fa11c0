-- When the objects of the page were loaded last, in microseconds since 1970; none for most monitors.

ALTER TABLE states ADD COLUMN full_page_at INTEGER;
