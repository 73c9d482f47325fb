-- What steps are searched for: the model of an attempt or a skip, as
-- provider/model, and the class of a failure.
ALTER TABLE steps ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE steps ADD COLUMN reason TEXT NOT NULL DEFAULT '';
UPDATE steps SET model = json_extract(step, '$.Attempt.Model.Provider') || '/' || json_extract(step, '$.Attempt.Model.Name'),
    reason = coalesce(json_extract(step, '$.Attempt.Reason'), '')
    WHERE what IN ('attempt', 'skip') AND json_extract(step, '$.Attempt.Model.Name') IS NOT NULL;
CREATE INDEX steps_by_model ON steps (model, id) WHERE model <> '';
CREATE INDEX steps_by_reason ON steps (reason, id, model) WHERE reason <> '';
CREATE INDEX steps_by_kind ON steps (what, id) WHERE what NOT IN ('attempt', 'decision');

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
