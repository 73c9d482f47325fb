-- An agent's heartbeat between two beats. turn is the beat that runs; tasks and
-- running are JSON.
CREATE TABLE heartbeats (
    agent     TEXT PRIMARY KEY,
    off       INTEGER NOT NULL DEFAULT 0,
    turn      TEXT NOT NULL DEFAULT '',
    reason    TEXT NOT NULL DEFAULT '',
    began     INTEGER NOT NULL DEFAULT 0,
    running   TEXT NOT NULL DEFAULT '',
    last      INTEGER NOT NULL DEFAULT 0,
    status    TEXT NOT NULL DEFAULT '',
    why       TEXT NOT NULL DEFAULT '',
    detail    TEXT NOT NULL DEFAULT '',
    model     TEXT NOT NULL DEFAULT '',
    at        INTEGER NOT NULL DEFAULT 0,
    due       INTEGER NOT NULL DEFAULT 0,
    text      TEXT NOT NULL DEFAULT '',
    text_at   INTEGER NOT NULL DEFAULT 0,
    failed    TEXT NOT NULL DEFAULT '',
    failed_at INTEGER NOT NULL DEFAULT 0,
    failures  INTEGER NOT NULL DEFAULT 0,
    tasks     TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

-- What this installation is, such as the seed of its schedules [H3].
CREATE TABLE instance (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
