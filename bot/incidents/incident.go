package incidents

import "time"

// Kind is what sort of trouble an incident is. It is also the word that
// operators.notify picks events by.
type Kind string

// The kinds.
const (
	Fallback  Kind = "fallback"  // another model has been answering for long [IL-160]
	Models    Kind = "models"    // no model of an agent answers
	Auth      Kind = "auth"      // a credential is refused [IL-023]
	Billing   Kind = "billing"   // a credential's account has no money left
	Login     Kind = "login"     // a token or login has expired, or is about to
	Channel   Kind = "channel"   // a platform is not connected
	Job       Kind = "job"       // a job fails, or its answers do not arrive [IL-154]
	Heartbeat Kind = "heartbeat" // an agent's heartbeats fail [IL-020]
	Budget    Kind = "budget"    // a share of a budget is spent [IL-220]
	MCP       Kind = "mcp"       // a tool server does not run
)

// Kinds are all of them, in the order in which people read them.
func Kinds() []Kind {
	return []Kind{Models, Fallback, Auth, Billing, Login, Channel, Job, Heartbeat, Budget, MCP}
}

// Sign is something that is wrong at the moment of a look.
type Sign struct {
	Kind    Kind
	Subject string // with Kind it says which trouble it is: the same at every look
	// Since is when it began, as far as its source knows; zero: with this look.
	Since time.Time
	// Hold is how long it must have been so before anybody is told: what passes
	// sooner was no incident.
	Hold time.Duration
	// Stage grows as the trouble does (a budget's percent, a login that has expired
	// at last): each step is told once.
	Stage int
	// Quiet says that its end is no news.
	Quiet bool
	// Channel and Account are what cannot be told of it, since it is what is down.
	Channel, Account string

	Title     string // what it is, without its time: "channel slack is down"
	Was       string // the same, over: "channel slack was down"
	Detail    string // its cause, may be empty
	Meanwhile string // what happens as long as it lasts, a sentence
	Mend      string // what to do, a sentence with a command
}

// Incident is a row.
type Incident struct {
	ID      int64
	Kind    Kind
	Subject string
	Title   string
	Was     string
	Text    string // all that was last said of it, as one line
	Stage   int
	Quiet   bool
	Times   int // how often it came, from 1
	Lines   int // how often something was said of it

	Opened time.Time // when it was first seen
	Since  time.Time // when it began
	Told   time.Time // when it was told; zero: it has not lasted long enough
	Seen   time.Time // when it was last seen, to within Freshness
	Well   time.Time // since when it has not been seen; zero: it is
	Closed time.Time // zero: it is open

	Channel, Account string // as in its sign
}

// Open tells whether it was told and is not over.
func (i Incident) Open() bool { return !i.Told.IsZero() && i.Closed.IsZero() }

// Flaps tells whether it came back soon after it had ended.
func (i Incident) Flaps() bool { return i.Times > 1 }

func (i Incident) key() key { return key{i.Kind, i.Subject} }

type key struct {
	kind    Kind
	subject string
}
