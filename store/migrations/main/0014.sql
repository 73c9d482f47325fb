-- What operators are told of, once: a row for each trouble. told is 0 while it
-- has not lasted long enough, well is since when it is not there any more, closed
-- is 0 while it is open.
CREATE TABLE incidents (
    id      INTEGER PRIMARY KEY,
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    title   TEXT NOT NULL,
    was     TEXT NOT NULL,
    text    TEXT NOT NULL,
    stage   INTEGER NOT NULL,
    quiet   INTEGER NOT NULL,
    times   INTEGER NOT NULL,
    lines   INTEGER NOT NULL,
    opened  INTEGER NOT NULL,
    since   INTEGER NOT NULL,
    told    INTEGER NOT NULL,
    seen    INTEGER NOT NULL,
    well    INTEGER NOT NULL,
    closed  INTEGER NOT NULL,
    channel TEXT NOT NULL,
    account TEXT NOT NULL
) STRICT;
CREATE INDEX incidents_by_end ON incidents (closed);

-- Lines on incidents that are not handed over yet. target is a hash: a webhook's
-- address may hold a secret.
CREATE TABLE incident_posts (
    id       TEXT PRIMARY KEY,
    incident INTEGER NOT NULL,
    target   TEXT NOT NULL,
    event    TEXT NOT NULL,
    at       INTEGER NOT NULL,
    tries    INTEGER NOT NULL,
    next     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
