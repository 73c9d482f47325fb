-- Whether an entry holds words of others than the owner: a turn that is shown
-- them cannot use the owner's tools.
ALTER TABLE transcript ADD COLUMN others INTEGER NOT NULL DEFAULT 0;
