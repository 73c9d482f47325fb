package operator

import "time"

// Decision is one step of a run: an attempt, a skip, a change of the stored
// choice, a window, a tool.
type Decision struct {
	ID         int64     `json:"id"`
	At         time.Time `json:"at"`
	Run        string    `json:"run"`
	Session    string    `json:"session,omitempty"`
	Agent      string    `json:"agent,omitempty"`
	Kind       string    `json:"kind,omitempty" enum:"chat,cron,heartbeat,compaction,probe"`
	What       string    `json:"what" enum:"attempt,skip,override,cooldown,disabled,blocked,decision,tool"`
	Model      string    `json:"model,omitempty"`
	Credential string    `json:"credential,omitempty"`
	Outcome    string    `json:"outcome,omitempty" enum:"ok,failed,skipped"`
	Reason     string    `json:"reason,omitempty" doc:"Class of the failure."`
	Why        string    `json:"why,omitempty" doc:"Of a skip."`
	Status     int       `json:"status,omitempty" doc:"HTTP."`
	Code       string    `json:"code,omitempty"`
	Detail     string    `json:"detail,omitempty"`
	Request    string    `json:"request,omitempty" doc:"The vendor's id of the request, for its support."`
	Position   int       `json:"position,omitempty"`
	Total      int       `json:"total,omitempty"`
	Probe      string    `json:"probe,omitempty" enum:"primary,cooldown"`
	TookMs     int64     `json:"tookMs,omitempty"`
	Until      time.Time `json:"until,omitzero" doc:"End of a window."`
	Act        string    `json:"act,omitempty" enum:"set,rollback,clear" doc:"Of a change of the stored choice."`
	From       string    `json:"from,omitempty" doc:"The stored model before."`
	To         string    `json:"to,omitempty" doc:"The stored model after; absent: none, the config decides."`
	By         string    `json:"by,omitempty" doc:"The person who did it."`
	Command    string    `json:"command,omitempty" doc:"With what."`
	Text       string    `json:"text" doc:"The same in a sentence."`
}

// Decisions is a page of them, the latest first.
type Decisions struct {
	Decisions []Decision `json:"decisions"`
	Next      string     `json:"next,omitempty"`
}

// Run is one run: all that was tried to answer one message, job or beat.
type Run struct {
	ID        string    `json:"id"`
	Session   string    `json:"session,omitempty"`
	Agent     string    `json:"agent,omitempty"`
	Kind      string    `json:"kind" enum:"chat,cron,heartbeat,compaction,probe"`
	Began     time.Time `json:"began" doc:"Of its first step."`
	Ended     time.Time `json:"ended" doc:"Of its last step."`
	TookMs    int64     `json:"tookMs"`
	Outcome   string    `json:"outcome" enum:"answered,failed,changed,open" doc:"changed: a person changed the choice, no model was asked; open: no model has answered yet."`
	Requested string    `json:"requested,omitempty" doc:"The first model of its chain."`
	Answered  string    `json:"answered,omitempty" doc:"The model that answered."`
	Reason    string    `json:"reason,omitempty" doc:"Class of the first failure."`
	Attempts  int       `json:"attempts"`
	Skips     int       `json:"skips"`
	Probes    int       `json:"probes"`
}

// Runs is a page of them, the latest first.
type Runs struct {
	Runs []Run  `json:"runs"`
	Next string `json:"next,omitempty"`
}

// RunDetail is a run with every step, in order.
type RunDetail struct {
	Run
	Steps []Decision `json:"steps"`
}

// Timeline is which model answered when.
type Timeline struct {
	From     time.Time         `json:"from"`
	To       time.Time         `json:"to"`
	Agents   []AgentTimeline   `json:"agents"`
	Sessions []SessionTimeline `json:"sessions" doc:"Those that were answered by more than one model or by none come first."`
	Switches []Switch          `json:"switches" doc:"The latest first; at most 200."`
	More     bool              `json:"more" doc:"There were more sessions or switches than are listed."`
}

// AgentTimeline is an agent's sessions taken together.
type AgentTimeline struct {
	Agent     string     `json:"agent"`
	Intervals []Interval `json:"intervals" doc:"One model's intervals do not overlap; those of two models may."`
}

// SessionTimeline is one session.
type SessionTimeline struct {
	Session   string     `json:"session"`
	Agent     string     `json:"agent"`
	Intervals []Interval `json:"intervals"`
}

// Interval is a time in which one model answered.
type Interval struct {
	Model  string    `json:"model,omitempty" doc:"Absent: no model answered."`
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	Turns  int       `json:"turns" doc:"A job that no model answered and that was tried again is one run, with a turn in each interval."`
	Reason string    `json:"reason,omitempty" doc:"Why it was not the requested model, or why none was."`
}

// Switch is a change of the model that answers a session.
type Switch struct {
	At      time.Time `json:"at"`
	Session string    `json:"session"`
	Agent   string    `json:"agent"`
	Kind    string    `json:"kind" enum:"fallback,recovered,chosen,cleared"`
	From    string    `json:"from,omitempty"`
	To      string    `json:"to,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	By      string    `json:"by,omitempty"`
	Run     string    `json:"run"`
}

// Act is a change that an operator made.
type Act struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	Via    string    `json:"via"`
	What   string    `json:"what" doc:"The operation, such as session.model, credential.clear, job.run."`
	About  string    `json:"about" doc:"The session, credential, job or agent."`
	Detail string    `json:"detail,omitempty"`
}

// Acts is a page of them, the latest first.
type Acts struct {
	Acts []Act  `json:"acts"`
	Next string `json:"next,omitempty"`
}
