// Package rows holds the words that the operator's room and the store share: what
// may be asked of the rows that are kept for operators, and what these say. Lists
// go backwards, a page at a time.
package rows

import (
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

// SessionsOf says which sessions are wanted; zero fields pick all.
type SessionsOf struct {
	Agent   fallback.AgentID
	Channel string
	Part    string // of the key
	StandIn bool   // a fallback's choice is stored
	Chosen  bool   // a person's choice is stored
	Keys    []fallback.SessionID
	After   time.Time // the last of the page before was spoken to then,
	AfterID fallback.SessionID
	Limit   int
}

// StepsOf says which steps are wanted; zero fields pick all.
type StepsOf struct {
	Session fallback.SessionID
	Run     string
	Model   string // provider/model, of attempts and skips
	Reason  string // class of a failure
	What    fallback.StepKind
	From    time.Time // not before
	To      time.Time // before
	Before  int64     // id; 0: from the latest
	Limit   int
}

// KeptStep is a step with its row's id, which grows with time.
type KeptStep struct {
	ID int64
	fallback.Step
}

// RunsOf says which runs are wanted; zero fields pick all.
type RunsOf struct {
	Run      string
	Session  fallback.SessionID
	Agent    fallback.AgentID
	Kind     fallback.Kind
	Answered string // by this model
	Reason   string
	Outcome  string
	From, To time.Time // when they began
	Before   int64
	Limit    int
}

// LoggedRun is a row of the run log.
type LoggedRun struct {
	Seq                     int64
	Run                     string
	Session                 fallback.SessionID
	Agent                   fallback.AgentID
	Kind                    fallback.Kind
	Began, Ended            time.Time
	Outcome                 string
	Requested, Answered     string
	Reason                  string
	Attempts, Skips, Probes int
}

// StretchesOf says which are wanted.
type StretchesOf struct {
	Session  fallback.SessionID // "": of all
	Agent    fallback.AgentID   // "": of all
	From, To time.Time          // those that reach into this time
	Limit    int
}

// Stretch is a time in which one model answered a session without a break.
type Stretch struct {
	Session      fallback.SessionID
	Agent        fallback.AgentID
	Model        string // "": none answered
	Reason       string // why it was not the one that was to answer
	Began, Ended time.Time
	Turns        int
}

// AgentStretch is one model's part in an agent's time.
type AgentStretch struct {
	Agent        fallback.AgentID
	Model        string
	Began, Ended time.Time
	Turns        int
}

// KeptAct is a change that an operator made.
type KeptAct struct {
	ID                            int64
	At                            time.Time
	Who, Via, What, About, Detail string
}

// ChatPlace is where a line stands in its chat.
type ChatPlace struct {
	At  time.Time
	Out bool
	N   int64
}

// ChatLine is a message of a chat of the operator's, in or out.
type ChatLine struct {
	ChatPlace
	ID   string // the message's, or the delivery's
	Kind channels.Kind
	Text string
	Who  string
	Turn string
	How  bot.How // of one that came in; "": it waits
}
