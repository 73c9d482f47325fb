-- standin.sqlite: sessions, messages and their story. Times are Unix
-- milliseconds, 0 means never; texts are '' when absent, never NULL. A change
-- here goes into migrations/main as well: a test holds the two together.

CREATE TABLE sessions (
    key              TEXT PRIMARY KEY,
    agent            TEXT NOT NULL,
    epoch            TEXT NOT NULL,
    started          INTEGER NOT NULL,
    last_interaction INTEGER NOT NULL,
    compactions      INTEGER NOT NULL DEFAULT 0,
    turns            INTEGER NOT NULL DEFAULT 0,
    aborted          INTEGER NOT NULL DEFAULT 0,
    channel          TEXT NOT NULL DEFAULT '',
    account          TEXT NOT NULL DEFAULT '',
    conversation     TEXT NOT NULL DEFAULT '',
    thread           TEXT NOT NULL DEFAULT '',
    parent           TEXT NOT NULL DEFAULT '',
    queue            TEXT NOT NULL DEFAULT '',
    seeded           INTEGER NOT NULL DEFAULT 0,
    send             TEXT NOT NULL DEFAULT '',
    settings         TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

-- The fields that fallback owns, and nothing else [M3, D7]. No row: free.
CREATE TABLE selection (
    session         TEXT PRIMARY KEY,
    provider        TEXT NOT NULL DEFAULT '',
    model           TEXT NOT NULL DEFAULT '',
    source          TEXT NOT NULL DEFAULT '',
    origin_provider TEXT NOT NULL DEFAULT '',
    origin_model    TEXT NOT NULL DEFAULT '',
    pin             TEXT NOT NULL DEFAULT '',
    pin_source      TEXT NOT NULL DEFAULT '',
    pin_compactions INTEGER NOT NULL DEFAULT -1,
    told_selected_provider TEXT NOT NULL DEFAULT '',
    told_selected_model    TEXT NOT NULL DEFAULT '',
    told_active_provider   TEXT NOT NULL DEFAULT '',
    told_active_model      TEXT NOT NULL DEFAULT '',
    told_reason            TEXT NOT NULL DEFAULT '',
    pending INTEGER NOT NULL DEFAULT 0,
    since   INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE transcript (
    seq      INTEGER PRIMARY KEY,
    session  TEXT NOT NULL,
    epoch    TEXT NOT NULL,
    turn     TEXT NOT NULL,
    role     TEXT NOT NULL,
    text     TEXT NOT NULL,
    provider TEXT NOT NULL DEFAULT '',
    model    TEXT NOT NULL DEFAULT '',
    at       INTEGER NOT NULL,
    exchange TEXT NOT NULL DEFAULT '',
    others   INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX transcript_by_epoch ON transcript (session, epoch, seq, role);
-- The latest summary of a conversation: what stands before it is not shown to a
-- model any more [S19].
CREATE INDEX transcript_summaries ON transcript (session, epoch, seq) WHERE role = 'summary';

-- The conversations that a session has put behind it; their transcripts stay
-- for a while [S9, S15].
CREATE TABLE epochs (
    session TEXT NOT NULL,
    epoch   TEXT NOT NULL,
    ended   INTEGER NOT NULL,
    PRIMARY KEY (session, epoch)
) STRICT, WITHOUT ROWID;
CREATE INDEX epochs_by_end ON epochs (ended);

-- Each row is owed exactly one ending [I1]; the unique key makes a message
-- that the platform delivers twice one row [I2]. facts holds, as JSON, what
-- only busy platforms say of a message.
CREATE TABLE inbox (
    id           INTEGER PRIMARY KEY,
    channel      TEXT NOT NULL,
    account      TEXT NOT NULL,
    conversation TEXT NOT NULL,
    thread       TEXT NOT NULL,
    message_id   TEXT NOT NULL,
    chat         TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    user_name    TEXT NOT NULL,
    text         TEXT NOT NULL,
    mentioned    INTEGER NOT NULL,
    authorized   INTEGER NOT NULL,
    sent         INTEGER NOT NULL,
    session      TEXT NOT NULL,
    agent        TEXT NOT NULL,
    accepted     INTEGER NOT NULL,
    ended        INTEGER NOT NULL DEFAULT 0,
    how          TEXT NOT NULL DEFAULT '',
    why          TEXT NOT NULL DEFAULT '',
    turn         TEXT NOT NULL DEFAULT '',
    facts        TEXT NOT NULL DEFAULT '',
    overheard    INTEGER NOT NULL DEFAULT 0,
    acted        INTEGER NOT NULL DEFAULT 0,
    UNIQUE (channel, account, conversation, message_id)
) STRICT;
CREATE INDEX inbox_by_end ON inbox (ended);
-- What a room said unasked and no turn has taken up yet [S18].
CREATE INDEX inbox_overheard ON inbox (channel, account, conversation, thread, id)
    WHERE overheard = 1;
CREATE INDEX inbox_by_turn ON inbox (turn) WHERE turn <> '';
CREATE INDEX inbox_latest ON inbox (channel, account, conversation, sent);

CREATE TABLE outbox (
    seq          INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    channel      TEXT NOT NULL,
    account      TEXT NOT NULL,
    conversation TEXT NOT NULL,
    thread       TEXT NOT NULL,
    kind         TEXT NOT NULL,
    text         TEXT NOT NULL,
    reply_to     TEXT NOT NULL,
    turn         TEXT NOT NULL,
    state        TEXT NOT NULL,
    attempts     INTEGER NOT NULL DEFAULT 0,
    next         INTEGER NOT NULL DEFAULT 0,
    created      INTEGER NOT NULL,
    message_id   TEXT NOT NULL DEFAULT '',
    error        TEXT NOT NULL DEFAULT '',
    extras       TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX outbox_owed ON outbox (channel, account, conversation, thread, seq)
    WHERE state IN ('pending', 'sending', 'unknown');
CREATE INDEX outbox_by_age ON outbox (created);
CREATE INDEX outbox_by_message ON outbox (message_id) WHERE message_id <> '';

-- The story of the runs, one row per step [I10]. model is provider/model of an
-- attempt or a skip, reason the class of its failure: what is searched for.
CREATE TABLE steps (
    id      INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    session TEXT NOT NULL,
    run     TEXT NOT NULL,
    what    TEXT NOT NULL,
    step    TEXT NOT NULL,
    model   TEXT NOT NULL DEFAULT '',
    reason  TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX steps_by_session ON steps (session);
CREATE INDEX steps_by_run ON steps (run);
CREATE INDEX steps_by_age ON steps (at);
CREATE INDEX steps_by_model ON steps (model, id) WHERE model <> '';
CREATE INDEX steps_by_reason ON steps (reason, id, model) WHERE reason <> '';
CREATE INDEX steps_by_kind ON steps (what, id) WHERE what NOT IN ('attempt', 'decision');

-- People who asked to be let in [P1], and those who were [P2]: approved > 0.
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
    conversation TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (channel, account, user_id)
) STRICT, WITHOUT ROWID;

-- What happened and what a session's next turn hears of [R26, R54].
CREATE TABLE events (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    key     TEXT NOT NULL,
    text    TEXT NOT NULL,
    at      INTEGER NOT NULL
) STRICT;
CREATE INDEX events_by_session ON events (session, id);

-- Messages that show an answer in the making. A row is written before such a
-- message is posted, and goes when it has become the answer or was taken back:
-- what a process leaves behind, the next one can find [I8].
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

-- The files of deliveries, until they are sent or refused [I2]. ref is what the
-- platform calls the upload that stands for one.
CREATE TABLE outbox_files (
    delivery TEXT NOT NULL,
    n        INTEGER NOT NULL,
    ref      TEXT NOT NULL DEFAULT '',
    data     BLOB NOT NULL,
    PRIMARY KEY (delivery, n)
) STRICT;

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

-- Jobs and the log of their runs [R63]. job and run hold the whole as JSON; the
-- columns are what is searched for: next is when a job is due, 0 never; running
-- is since when it runs, 0 when it does not; delivering is 1 while nobody knows
-- whether the answer arrived.
CREATE TABLE jobs (
    seq      INTEGER PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    enabled  INTEGER NOT NULL,
    next     INTEGER NOT NULL,
    running  INTEGER NOT NULL,
    job      TEXT NOT NULL
) STRICT;
CREATE INDEX jobs_due ON jobs (next) WHERE enabled = 1 AND running = 0 AND next > 0;

CREATE TABLE runs (
    seq        INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    job        TEXT NOT NULL,
    ended      INTEGER NOT NULL,
    delivering INTEGER NOT NULL,
    run        TEXT NOT NULL
) STRICT;
CREATE INDEX runs_by_job ON runs (job, seq);
CREATE INDEX runs_open ON runs (seq) WHERE ended = 0;
CREATE INDEX runs_delivering ON runs (seq) WHERE delivering = 1;

-- Files that came with messages [G40]. file is the name under media in the state
-- folder; the n-th file of a message has the n-th row, and one that could not be
-- had has none.
CREATE TABLE media (
    message INTEGER NOT NULL,
    n       INTEGER NOT NULL,
    name    TEXT NOT NULL,
    type    TEXT NOT NULL,
    size    INTEGER NOT NULL,
    file    TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (message, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX media_by_age ON media (at);

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

-- One row for each run of the journal, kept with its steps: what the operator's
-- lists read. outcome is answered, failed, changed or open; models are
-- provider/model; reason is the class of the first failure.
CREATE TABLE run_log (
    seq       INTEGER PRIMARY KEY,
    run       TEXT NOT NULL UNIQUE,
    session   TEXT NOT NULL,
    agent     TEXT NOT NULL,
    kind      TEXT NOT NULL,
    began     INTEGER NOT NULL,
    ended     INTEGER NOT NULL,
    outcome   TEXT NOT NULL,
    requested TEXT NOT NULL,
    answered  TEXT NOT NULL,
    reason    TEXT NOT NULL,
    attempts  INTEGER NOT NULL,
    skips     INTEGER NOT NULL,
    probes    INTEGER NOT NULL
) STRICT;
CREATE INDEX run_log_by_session ON run_log (session, seq);
CREATE INDEX run_log_by_answer ON run_log (answered, seq);
CREATE INDEX run_log_by_age ON run_log (began);
-- Those that somebody looks for: the others are healthy and many.
CREATE INDEX run_log_by_reason ON run_log (reason, seq) WHERE reason <> '';
CREATE INDEX run_log_by_outcome ON run_log (outcome, seq) WHERE outcome <> 'answered';
CREATE INDEX run_log_by_kind ON run_log (kind, seq) WHERE kind <> 'chat';

-- From when to when one model answered a session without a break; model is ''
-- while none did. The last of a session grows with its runs.
CREATE TABLE stretches (
    id      INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    agent   TEXT NOT NULL,
    model   TEXT NOT NULL,
    reason  TEXT NOT NULL,
    began   INTEGER NOT NULL,
    ended   INTEGER NOT NULL,
    turns   INTEGER NOT NULL
) STRICT;
CREATE INDEX stretches_by_session ON stretches (session, id);
CREATE INDEX stretches_by_end ON stretches (ended);

-- The changes that operators made over the API, each written before it is done.
CREATE TABLE operator_acts (
    id     INTEGER PRIMARY KEY,
    at     INTEGER NOT NULL,
    who    TEXT NOT NULL,
    via    TEXT NOT NULL,
    what   TEXT NOT NULL,
    about  TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;

-- What the operator's chats were answered.
CREATE INDEX outbox_of_page ON outbox (conversation, seq) WHERE channel = 'page';

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
