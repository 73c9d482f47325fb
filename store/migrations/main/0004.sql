CREATE TABLE drafts (
    id           TEXT PRIMARY KEY,
    turn         TEXT NOT NULL,
    channel      TEXT NOT NULL,
    account      TEXT NOT NULL,
    conversation TEXT NOT NULL,
    thread       TEXT NOT NULL,
    message_id   TEXT NOT NULL,
    text         TEXT NOT NULL,
    at           INTEGER NOT NULL,
    abandoned    INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX drafts_by_message ON drafts (message_id);

CREATE TABLE outbox_files (
    delivery TEXT NOT NULL,
    n        INTEGER NOT NULL,
    ref      TEXT NOT NULL DEFAULT '',
    data     BLOB NOT NULL,
    PRIMARY KEY (delivery, n)
) STRICT;
