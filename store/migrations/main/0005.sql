ALTER TABLE sessions ADD COLUMN seeded INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN send TEXT NOT NULL DEFAULT '';
ALTER TABLE pairings ADD COLUMN conversation TEXT NOT NULL DEFAULT '';
CREATE INDEX inbox_by_turn ON inbox (turn) WHERE turn <> '';
CREATE INDEX inbox_latest ON inbox (channel, account, conversation, sent);
CREATE INDEX outbox_by_message ON outbox (message_id) WHERE message_id <> '';

CREATE TABLE epochs (
    session TEXT NOT NULL,
    epoch   TEXT NOT NULL,
    ended   INTEGER NOT NULL,
    PRIMARY KEY (session, epoch)
) STRICT, WITHOUT ROWID;
CREATE INDEX epochs_by_end ON epochs (ended);
