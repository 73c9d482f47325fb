-- What happened and what a session's next turn hears of [R26, R54].
CREATE TABLE events (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    key     TEXT NOT NULL,
    text    TEXT NOT NULL,
    at      INTEGER NOT NULL
) STRICT;
CREATE INDEX events_by_session ON events (session, id);
