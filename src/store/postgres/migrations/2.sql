-- Counters that throttle logins: a restart does not reset them.

CREATE TABLE login_throttles (
    kind     SMALLINT NOT NULL, -- failures of 0 a login, 1 a login at an address known for it, 2 an address, 3 a network; 4 last success of a login at an address
    hash     BYTEA NOT NULL,    -- HMAC-SHA256 of the login, the address or both
    failures BIGINT NOT NULL,
    last_at  BIGINT NOT NULL,   -- time of the last failure or success
    PRIMARY KEY (kind, hash)
) WITH (fillfactor = 70);
