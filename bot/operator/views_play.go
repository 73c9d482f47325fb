package operator

import (
	"encoding/json"
	"time"
)

// Outage is one that can be rehearsed.
type Outage struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Story string `json:"story" doc:"What happens in it, in a sentence or two."`
}

// Outages are those that there are.
type Outages struct {
	Outages []Outage `json:"outages"`
}

// Rehearse asks for one to be played.
type Rehearse struct {
	Outage string `json:"outage"`
	Agent  string `json:"agent,omitempty" doc:"Absent: the default agent."`
}

// Rehearsed is how it went, by the running config on virtual time. Nobody was
// asked and nothing was written.
type Rehearsed struct {
	Outage string          `json:"outage"`
	Agent  string          `json:"agent"`
	Chain  []string        `json:"chain"`
	Steps  []RehearsalStep `json:"steps"`
	TookMs int64           `json:"tookMs" doc:"Of real time."`
}

// RehearsalStep is one thing that happens.
type RehearsalStep struct {
	AtMs       int64           `json:"atMs" doc:"Virtual time since the beginning."`
	Event      string          `json:"event" doc:"say, attempt, skip, override, cooldown, disabled, blocked, notice, reply, failure, vendor …"`
	Model      string          `json:"model,omitempty"`
	Credential string          `json:"credential,omitempty"`
	Reason     string          `json:"reason,omitempty"`
	Text       string          `json:"text" doc:"In a sentence, or what was said."`
	Facts      json.RawMessage `json:"facts" doc:"All that is known of it, as standin rehearse --json prints it."`
}

// Explained is what a message would do now, as standin explain --json prints it.
type Explained struct {
	Explanation json.RawMessage `json:"explanation" doc:"at, session, agent, run, selected, default, source, chosen, strict, policy, cleared, standsIn{model, since, reason, next, due}, candidates[{position, model, do, why, reason, until, mend, credentials[]}], simulation{steps[{at, event, model, text …}], answeredBy, notice, failure}."`
}

// ChatSay is a message to an agent.
type ChatSay struct {
	ID    string `json:"id,omitempty" doc:"The page's own id of the message: the same id again is not a second message."`
	Agent string `json:"agent,omitempty" doc:"Absent: the default agent."`
	Chat  string `json:"chat,omitempty" doc:"Which of the operator's chats: letters, digits and -; absent: main."`
	Text  string `json:"text"`
}

// ChatTaken says that the message is kept and will be answered.
type ChatTaken struct {
	ID      string `json:"id"`
	Session string `json:"session"`
}

// ChatMessage is a message of a chat.
type ChatMessage struct {
	ID    string    `json:"id"`
	At    time.Time `json:"at"`
	From  string    `json:"from" enum:"operator,agent"`
	Kind  string    `json:"kind" enum:"said,reply,notice,failure,command" doc:"A notice is not the agent's word: set it apart."`
	Text  string    `json:"text"`
	Who   string    `json:"who,omitempty" doc:"Of an operator."`
	Turn  string    `json:"turn,omitempty" doc:"See /runs/{id}."`
	State string    `json:"state,omitempty" enum:"waiting,answered,failed,command,silent" doc:"Of an operator's message: what became of it."`
}

// Chat is the latest of a chat, in order.
type Chat struct {
	Session  string        `json:"session"`
	Agent    string        `json:"agent"`
	Messages []ChatMessage `json:"messages"`
	Next     string        `json:"next,omitempty" doc:"Cursor of what was said before."`
}

// Login is how a person comes in.
type Login struct {
	Token string `json:"token"`
	Name  string `json:"name,omitempty" doc:"Who it is, for the record of changes."`
}

// Me is who is asking.
type Me struct {
	LoggedIn bool   `json:"loggedIn"`
	Needed   bool   `json:"tokenNeeded" doc:"false: this machine may look without a token."`
	Name     string `json:"name,omitempty"`
	Version  string `json:"version"`
}

// Done says that a change has been made.
type Done struct {
	Says string `json:"says" doc:"What was done, in a sentence."`
}

// Failure is every answer that is none.
type Failure struct {
	Error Fault `json:"error"`
}

// Fault says what is wrong and what to do.
type Fault struct {
	Code    string `json:"code" enum:"bad_request,unauthorized,forbidden,not_found,conflict,too_large,too_many,unavailable,internal"`
	Message string `json:"message"`
}

// Event is what /events sends as data; the event's name is its type.
type Event struct {
	At       time.Time    `json:"at"`
	Decision *Decision    `json:"decision,omitempty" doc:"Of type decision."`
	Chat     *ChatMessage `json:"chat,omitempty" doc:"Of type chat."`
	Session  string       `json:"session,omitempty"`
	What     string       `json:"what,omitempty" doc:"Of type changed: what should be read again: now, sessions, credentials, orders, cron, heartbeats, chat, config."`
	Act      *Act         `json:"act,omitempty" doc:"Of type act: an operator's change."`
}
