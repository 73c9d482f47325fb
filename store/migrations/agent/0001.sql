CREATE TABLE credentials (
    profile  TEXT PRIMARY KEY,
    provider TEXT NOT NULL,
    type     TEXT NOT NULL,
    secret   TEXT NOT NULL CHECK (json_valid(secret))
) STRICT, WITHOUT ROWID;
CREATE INDEX credentials_by_provider ON credentials (provider);

CREATE TABLE usage (
    profile  TEXT PRIMARY KEY,
    provider TEXT NOT NULL,
    state    TEXT NOT NULL CHECK (json_valid(state))
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_by_provider ON usage (provider);
