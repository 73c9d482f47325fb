package operator

import (
	"time"

	"standin/bot"
)

// Session is one conversation with an agent.
type Session struct {
	Key         string    `json:"key"`
	Agent       string    `json:"agent"`
	Room        Room      `json:"room"`
	StartedAt   time.Time `json:"startedAt,omitzero"`
	LastSpoken  time.Time `json:"lastSpoken,omitzero" doc:"By a person."`
	Turns       int       `json:"turns"`
	Compactions int       `json:"compactions"`
	Selected    string    `json:"selected" doc:"The model that is meant to answer."`
	Active      string    `json:"active" doc:"The model that answers; differs while another stands in."`
	Source      string    `json:"source" doc:"Where selected comes from: default, agent, channel, auto (a fallback stands in), user, legacy."`
	Strict      bool      `json:"strict"`
	Reason      string    `json:"reason,omitempty" doc:"Why another model stands in."`
	Since       time.Time `json:"since,omitzero" doc:"Of the stored choice."`
	Credential  string    `json:"credential,omitempty" doc:"The credential that the session keeps to."`
	Chosen      bool      `json:"credentialChosen,omitempty" doc:"A person chose it."`
	Running     bool      `json:"running" doc:"A turn runs."`
	Waiting     int       `json:"waiting" doc:"Messages that wait for their turn."`
}

// Sessions is a page of them, the last spoken to first.
type Sessions struct {
	Sessions []Session `json:"sessions"`
	Next     string    `json:"next,omitempty" doc:"Cursor of the next page; absent on the last one."`
}

// SessionDetail is one of them with its last change told, as standin why tells it.
type SessionDetail struct {
	Session
	Models []string  `json:"models" doc:"What may be chosen for it."`
	Chain  []string  `json:"chain" doc:"What its next message would walk."`
	Story  bot.Story `json:"story"`
}

// Entry is a line of a transcript.
type Entry struct {
	Seq     int64     `json:"seq"`
	At      time.Time `json:"at"`
	Turn    string    `json:"turn" doc:"The run that it belongs to, see /runs/{id}."`
	Role    string    `json:"role" enum:"user,assistant,summary"`
	Text    string    `json:"text"`
	Model   string    `json:"model,omitempty" doc:"Who answered."`
	Tools   []string  `json:"tools,omitempty" doc:"Names of the tools that were asked for."`
	Results int       `json:"results,omitempty" doc:"How many results of tools it holds."`
}

// Transcript is a page of what was said in the session, the latest first.
type Transcript struct {
	Session string  `json:"session"`
	Entries []Entry `json:"entries"`
	Next    string  `json:"next,omitempty"`
}

// ChooseModel asks for a model.
type ChooseModel struct {
	Model string `json:"model" doc:"provider/model, an alias, a number of the list, or default; model@credential also chooses a credential."`
}
