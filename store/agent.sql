-- standin-agent.sqlite: the credentials of one agent and their routing state
-- [M15]. A change here goes into migrations/agent as well: a test holds the
-- two together.

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
    state    TEXT NOT NULL CHECK (json_valid(state)),
    cleared  INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_by_provider ON usage (provider);

-- The operator's order of a provider's profiles, a JSON list of ids (failover.md
-- 8.1). No row: config says, or they go round.
CREATE TABLE orders (
    provider TEXT PRIMARY KEY,
    profiles TEXT NOT NULL CHECK (json_valid(profiles))
) STRICT, WITHOUT ROWID;

-- Who changed what by hand, each written with its change. profile is '' for
-- what concerns a provider.
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

-- Who renews a login, so that no two processes do, and what the last try met.
-- spent names the refresh token that is being sent: a hash, not the token. A row
-- about another token than the stored one means nothing.
CREATE TABLE renewals (
    profile TEXT PRIMARY KEY,
    holder  TEXT NOT NULL,
    until   INTEGER NOT NULL,
    spent   TEXT NOT NULL,
    after   INTEGER NOT NULL,
    code    TEXT NOT NULL,
    said    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
