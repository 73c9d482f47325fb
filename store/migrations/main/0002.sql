ALTER TABLE sessions ADD COLUMN queue TEXT NOT NULL DEFAULT '';
ALTER TABLE inbox ADD COLUMN facts TEXT NOT NULL DEFAULT '';
ALTER TABLE inbox ADD COLUMN overheard INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN extras TEXT NOT NULL DEFAULT '';
CREATE INDEX inbox_overheard ON inbox (channel, account, conversation, thread, id)
    WHERE overheard = 1;

CREATE TABLE pairings (
    channel   TEXT NOT NULL,
    account   TEXT NOT NULL,
    user_id   TEXT NOT NULL,
    user_name TEXT NOT NULL,
    code      TEXT NOT NULL,
    asked     INTEGER NOT NULL,
    expires   INTEGER NOT NULL,
    approved  INTEGER NOT NULL DEFAULT 0,
    owner     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (channel, account, user_id)
) STRICT, WITHOUT ROWID;
