-- What was asked of tools and came back, as JSON.
ALTER TABLE transcript ADD COLUMN exchange TEXT NOT NULL DEFAULT '';
-- Something outside was done for the message: it is not run again [I8].
ALTER TABLE inbox ADD COLUMN acted INTEGER NOT NULL DEFAULT 0;
