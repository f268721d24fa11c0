-- First checks run after a monitor was created or what it checks was changed, outside of its schedule.

ALTER TABLE results ADD COLUMN first_check INTEGER; -- 1: a first check, which reports and rollups leave out
ALTER TABLE states ADD COLUMN first_check INTEGER; -- 1: the last check is a first check
ALTER TABLE states ADD COLUMN slot_at INTEGER; -- with first_check: planned time of the last planned run, if there is one
