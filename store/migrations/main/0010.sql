-- What a session has been told with /think, /verbose, /usage and the like, as
-- JSON; '' for nothing [S13].
ALTER TABLE sessions ADD COLUMN settings TEXT NOT NULL DEFAULT '';

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
