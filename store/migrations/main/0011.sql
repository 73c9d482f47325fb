-- Every call to a vendor, also one that failed, that nobody saw, or that only
-- tried a credential. cost is in billionths of a US dollar; priced is 0 when
-- nobody knows the price. requested is the model that was to answer.
CREATE TABLE ledger (
    id          INTEGER PRIMARY KEY,
    at          INTEGER NOT NULL,
    purpose     TEXT NOT NULL,
    agent       TEXT NOT NULL,
    session     TEXT NOT NULL,
    run         TEXT NOT NULL,
    job         TEXT NOT NULL,
    requested   TEXT NOT NULL,
    provider    TEXT NOT NULL,
    model       TEXT NOT NULL,
    profile     TEXT NOT NULL,
    input       INTEGER NOT NULL,
    output      INTEGER NOT NULL,
    cache_read  INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    cost        INTEGER NOT NULL,
    priced      INTEGER NOT NULL,
    ok          INTEGER NOT NULL,
    reason      TEXT NOT NULL
) STRICT;
CREATE INDEX ledger_by_age ON ledger (at);

-- The running totals of the ledger by hour (Unix time), from which budgets are
-- reckoned. They are written with its rows.
CREATE TABLE ledger_hours (
    hour     INTEGER NOT NULL,
    purpose  TEXT NOT NULL,
    agent    TEXT NOT NULL,
    provider TEXT NOT NULL,
    model    TEXT NOT NULL,
    job      TEXT NOT NULL,
    calls    INTEGER NOT NULL,
    cost     INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,
    PRIMARY KEY (hour, purpose, agent, provider, model, job)
) STRICT, WITHOUT ROWID;

-- What people gave a budget on top, for the period that begins at start. key is
-- the message that said so, which counts once.
CREATE TABLE budget_raises (
    id     INTEGER PRIMARY KEY,
    key    TEXT NOT NULL UNIQUE,
    budget TEXT NOT NULL,
    start  INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    who    TEXT NOT NULL,
    at     INTEGER NOT NULL
) STRICT;
CREATE INDEX budget_raises_by_period ON budget_raises (budget, start);

-- Which shares of a budget the operator has been told of in a period.
CREATE TABLE budget_news (
    budget TEXT NOT NULL,
    start  INTEGER NOT NULL,
    share  INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (budget, start, share)
) STRICT, WITHOUT ROWID;
