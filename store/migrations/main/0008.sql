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
