ALTER TABLE usage ADD COLUMN cleared INTEGER NOT NULL DEFAULT 0;

CREATE TABLE orders (
    provider TEXT PRIMARY KEY,
    profiles TEXT NOT NULL CHECK (json_valid(profiles))
) STRICT, WITHOUT ROWID;

CREATE TABLE acts (
    id       INTEGER PRIMARY KEY,
    at       INTEGER NOT NULL,
    profile  TEXT NOT NULL,
    provider TEXT NOT NULL,
    what     TEXT NOT NULL,
    who      TEXT NOT NULL,
    via      TEXT NOT NULL,
    detail   TEXT NOT NULL
) STRICT;
CREATE INDEX acts_by_profile ON acts (profile, id);
