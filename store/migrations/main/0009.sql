-- The latest summary of a conversation: what stands before it is not shown to a
-- model any more [S19].
CREATE INDEX transcript_summaries ON transcript (session, epoch, seq) WHERE role = 'summary';
