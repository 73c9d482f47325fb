package operator

import (
	"time"

	"standin/bot"
	"standin/channels"
)

// Now is what is going on at this moment, on one screen.
type Now struct {
	At        time.Time `json:"at"`
	Version   string    `json:"version"`
	StartedAt time.Time `json:"startedAt"`
	Readiness Readiness `json:"readiness" enum:"starting,ready,leaving"`
	Degraded  string    `json:"degraded,omitempty" doc:"What is not as it should be although it serves, in a sentence."`
	Agents    []Agent   `json:"agents"`
	// StandIns are those that began last; there may be more than are listed.
	StandIns      []StandIn    `json:"standIns" doc:"Sessions that another model answers than is selected, the latest first; at most 100."`
	StandInsTotal int          `json:"standInsTotal"`
	Channels      []Channel    `json:"channels"`
	Servers       []ToolServer `json:"servers" doc:"MCP servers."`
	Work          Work         `json:"work"`
	Failures      []Decision   `json:"failures" doc:"The last failed attempts, the latest first; at most 5."`
	Cost          *CostToday   `json:"cost,omitempty" doc:"Absent where costs are not kept."`
	Incidents     []Incident   `json:"incidents,omitempty" doc:"What is wrong and not over, the latest first; at most 100."`
}

// Incident is a trouble that operators are told of.
type Incident struct {
	Kind    string    `json:"kind" doc:"models, fallback, auth, billing, login, channel, job, heartbeat, budget, mcp"`
	Subject string    `json:"subject"`
	Title   string    `json:"title"`
	Text    string    `json:"text" doc:"As it was told last."`
	Since   time.Time `json:"since"`
	Times   int       `json:"times" doc:"How often it came; more than 1: it comes and goes."`
}

// Readiness says whether messages are taken.
type Readiness string

// The readinesses.
const (
	Starting Readiness = "starting"
	Ready    Readiness = "ready"
	Leaving  Readiness = "leaving"
)

// Agent is an agent with the chain that a message without a choice of its own
// would walk now.
type Agent struct {
	ID       string            `json:"id"`
	Name     string            `json:"name,omitempty"`
	Default  bool              `json:"default" doc:"It answers where none is named."`
	Standing channels.Standing `json:"standing" enum:"healthy,degraded,exhausted" doc:"healthy: the primary answers; degraded: another model does; exhausted: none can."`
	Why      string            `json:"why,omitempty" doc:"What keeps the primary away, in words."`
	Answers  string            `json:"answers,omitempty" doc:"The model that is asked first now; absent when none can be."`
	Strict   bool              `json:"strict" doc:"No other model may answer."`
	Chain    []Candidate       `json:"chain"`
	StandIns int               `json:"standIns" doc:"How many of its sessions are on a stand-in."`
}

// Candidate is one model of a chain as a message would find it now.
type Candidate struct {
	Position    int                  `json:"position" doc:"From 1, which is the primary."`
	Model       string               `json:"model"`
	Do          string               `json:"do" enum:"try,probe,skip" doc:"What would be done with it now."`
	Why         string               `json:"why,omitempty" doc:"Of a skip: cooldown, billing, persistent_auth, no_profile, budget, operator …"`
	Reason      string               `json:"reason,omitempty" doc:"Class of the failure that keeps its credentials away."`
	Until       time.Time            `json:"until,omitzero" doc:"When it can be asked again."`
	Says        string               `json:"says" doc:"Its state in a sentence for people."`
	Credentials []bot.CredentialView `json:"credentials" doc:"Of its provider, in the order of trying, with each open window."`
}

// StandIn is a session that another model answers than the selected one.
type StandIn struct {
	Session   string    `json:"session"`
	Agent     string    `json:"agent"`
	Room      Room      `json:"room"`
	Selected  string    `json:"selected"`
	Active    string    `json:"active"`
	Reason    string    `json:"reason,omitempty"`
	Since     time.Time `json:"since,omitzero"`
	NextProbe time.Time `json:"nextProbe,omitzero" doc:"When the selected model is asked again; absent or past: with the next message."`
}

// Room is where a session was last spoken to.
type Room struct {
	Channel      string `json:"channel,omitempty"`
	Account      string `json:"account,omitempty"`
	Conversation string `json:"conversation,omitempty"`
	Thread       string `json:"thread,omitempty"`
}

// Channel is how one account of a platform is.
type Channel struct {
	Channel   string    `json:"channel"`
	Account   string    `json:"account"`
	State     string    `json:"state" doc:"connecting, ready, reconnecting, down …"`
	Since     time.Time `json:"since"`
	LastEvent time.Time `json:"lastEvent,omitzero"`
	Attempt   int       `json:"attempt,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Mend      string    `json:"mend,omitempty"`
}

// ToolServer is how one MCP server is.
type ToolServer struct {
	Name  string    `json:"name"`
	State string    `json:"state"`
	Since time.Time `json:"since,omitzero"`
	Tools int       `json:"tools"`
	Error string    `json:"error,omitempty"`
	Next  time.Time `json:"next,omitzero" doc:"When it is tried again."`
}

// Work is what runs and what waits.
type Work struct {
	Running    int       `json:"running" doc:"Turns that run."`
	Waiting    int       `json:"waiting" doc:"Messages that wait for their turn."`
	Unsent     int       `json:"unsent" doc:"Posts that are owed to rooms."`
	OldestSend time.Time `json:"oldestUnsent,omitzero"`
}

// CostToday is what today has cost so far.
type CostToday struct {
	USD      float64 `json:"usd"`
	Calls    int64   `json:"calls"`
	Unpriced int64   `json:"unpriced" doc:"Calls to models whose price nobody knows; they are not in usd."`
}
