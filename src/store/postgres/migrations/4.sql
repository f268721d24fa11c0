-- Several controllers share the database, and one of them leads.
CREATE TABLE controller_lease (
    epoch BIGINT PRIMARY KEY, -- counts the leaders; each transaction of the leader locks it (FOR KEY SHARE)
    holder TEXT NOT NULL,
    url TEXT NOT NULL, -- where the other controllers reach the leader
    certificate_sha256 BYTEA,
    expires_at TIMESTAMPTZ NOT NULL
);
INSERT INTO controller_lease (epoch, holder, url, expires_at) VALUES (0, '', '', '-infinity');
