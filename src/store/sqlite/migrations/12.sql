-- Errors of monitors that depend on one that is down open no outage, which the reports tell.

ALTER TABLE results ADD COLUMN suppressed INTEGER; -- 1: the error is suppressed
