package channels

// Standing is how an agent's models are, for surfaces that show it [D18].
type Standing string

// The standings.
const (
	Healthy   Standing = "healthy"   // its first model can be asked
	Degraded  Standing = "degraded"  // another stands in for it
	Exhausted Standing = "exhausted" // none can be asked
)
