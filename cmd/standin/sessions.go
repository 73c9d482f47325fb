package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"standin/bot"
	"standin/fallback"
	"standin/store"
)

// sessionsVerb is `standin sessions`: the conversations that are kept [C16]. A
// running daemon makes the changes itself; beside none the command line makes
// them as the state folder's owner.
func (w world) sessionsVerb() *verb {
	return w.group("sessions", "The conversations that are kept.",
		w.sessionsListVerb(), w.sessionsShowVerb(), w.sessionsPatchVerb(),
		w.sessionsActVerb("reset", "Begin a session anew, as /new does: its model stays, its conversation is over."),
		w.sessionsActVerb("delete", "Delete a session with its conversation, its files and its choice of a model."),
		w.sessionsExportVerb())
}

// sessionArgument names a session.
func sessionArgument(to *string) argument {
	return argument{name: "session", help: "The session's key, as /status and standin sessions list show it.", to: to}
}

// sessionKey is a key as it is stored.
func sessionKey(text string) fallback.SessionID {
	return fallback.SessionID(strings.ToLower(strings.TrimSpace(text)))
}

// lookAt opens a state folder for reading.
func (f stateFlag) lookAt(w world) (*store.DB, error) {
	db, err := store.OpenReadOnly(w.ctx, f.options(w))
	if err != nil {
		return nil, exit{exitUsage, "state: " + err.Error()}
	}
	return db, nil
}

type sessionsListCmd struct {
	stateFlag
	Agent string
	Limit int
	JSON  bool
}

func (w world) sessionsListVerb() *verb {
	c := sessionsListCmd{Limit: 50}
	v := w.verb(&c, "list", "List the sessions, the one that was spoken to last first.")
	c.bind(v)
	v.Flags().Var(text{&c.Agent, "ID"}, "agent", "Of one agent.")
	v.Flags().IntVar(&c.Limit, "limit", c.Limit, "How many at most; 0: all.")
	v.Flags().BoolVar(&c.JSON, "json", false, "As JSON.")
	return v
}

// sessionJSON is what scripts read of a session. Selected is what was chosen, or
// what a stand-in stands in for; empty is the config's own. Active differs from
// it while a stand-in answers [S14].
type sessionJSON struct {
	Key             string     `json:"key"`
	Agent           string     `json:"agentId"`
	Label           string     `json:"label,omitempty"`
	SessionID       string     `json:"sessionId"`
	Started         time.Time  `json:"sessionStartedAt"`
	LastInteraction *time.Time `json:"lastInteractionAt,omitempty"`
	Turns           int        `json:"turns"`
	Compactions     int        `json:"compactionCount"`
	Channel         string     `json:"channel,omitempty"`
	Account         string     `json:"accountId,omitempty"`
	To              string     `json:"to,omitempty"`
	Thread          string     `json:"threadId,omitempty"`
	Parent          string     `json:"parent,omitempty"`
	Selected        string     `json:"selectedModel,omitempty"`
	Active          string     `json:"activeModel,omitempty"`
	Source          string     `json:"modelSource,omitempty"`
	Profile         string     `json:"authProfile,omitempty"`
	Think           string     `json:"thinkingLevel,omitempty"`
	Verbose         string     `json:"verboseLevel,omitempty"`
	Usage           string     `json:"responseUsage,omitempty"`
	Activation      string     `json:"groupActivation,omitempty"`
	Queue           string     `json:"queue,omitempty"`
	Send            string     `json:"sendPolicy,omitempty"`
}

func sessionOf(s store.SessionState) sessionJSON {
	j := sessionJSON{
		Key: string(s.Key), Agent: string(s.Agent), Label: s.Settings.Label, SessionID: s.Epoch, Started: s.StartedAt, Turns: s.Turns, Compactions: s.Compactions,
		Channel: s.Route.Channel, Account: s.Route.Account, To: s.Route.Conversation, Thread: s.Route.Thread, Parent: string(s.ParentOf()),
		Think: s.Settings.Think, Verbose: s.Settings.Verbose, Usage: s.Settings.Usage, Activation: s.Settings.Activation, Queue: s.Queue, Send: s.Send,
	}
	if !s.LastInteraction.IsZero() {
		j.LastInteraction = &s.LastInteraction
	}
	sel := s.Selection
	j.Selected, j.Active, j.Source, j.Profile = sel.Model.String(), sel.Model.String(), string(sel.Source), string(sel.Pin.Profile)
	if sel.IsAuto() {
		j.Selected = sel.Origin.String()
	}
	return j
}

// model is the session's model in a word for people.
func (j sessionJSON) model() string {
	switch {
	case j.Active == "":
		return "the default"
	case j.Active != j.Selected:
		return fmt.Sprintf("%s (stands in for %s)", j.Active, cmp.Or(j.Selected, "the default"))
	}
	return j.Selected
}

// Run lists them.
func (c sessionsListCmd) Run(w world) error {
	db, err := c.lookAt(w)
	if err != nil {
		return err
	}
	defer db.Close()
	limit := c.Limit
	if c.Agent != "" {
		limit = 0 // of that agent there are to be so many
	}
	all, err := db.Sessions(w.ctx, limit)
	if err != nil {
		return err
	}
	list := []sessionJSON{}
	for _, s := range all {
		if (c.Agent == "" || string(s.Agent) == c.Agent) && (c.Limit <= 0 || len(list) < c.Limit) {
			list = append(list, sessionOf(s))
		}
	}
	if c.JSON {
		return printJSON(w, list)
	}
	if len(list) == 0 {
		fmt.Fprintln(w.stdout, "There are no sessions. One begins with the first message to an agent.")
		return nil
	}
	t := tabwriter.NewWriter(w.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "SESSION\tLABEL\tLAST SPOKEN TO\tTURNS\tMODEL")
	now := time.Now()
	for _, j := range list {
		last := "never"
		if j.LastInteraction != nil {
			last = bot.Moment(*j.LastInteraction, now)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\n", j.Key, cmp.Or(j.Label, "-"), last, j.Turns, j.model())
	}
	return t.Flush()
}

type sessionsShowCmd struct {
	stateFlag
	Session string
	JSON    bool
}

func (w world) sessionsShowVerb() *verb {
	var c sessionsShowCmd
	v := w.verb(&c, "show", "Show what is kept of a session.", sessionArgument(&c.Session))
	c.bind(v)
	v.Flags().BoolVar(&c.JSON, "json", false, "As JSON.")
	return v
}

// Run shows one.
func (c sessionsShowCmd) Run(w world) error {
	db, err := c.lookAt(w)
	if err != nil {
		return err
	}
	defer db.Close()
	s, err := stateOf(w, db, sessionKey(c.Session))
	if err != nil {
		return err
	}
	j := sessionOf(s)
	if c.JSON {
		return printJSON(w, j)
	}
	j.print(w.stdout, s.Selection, time.Now())
	return nil
}

// stateOf reads one session, which has to be there.
func stateOf(w world, db *store.DB, key fallback.SessionID) (s store.SessionState, err error) {
	if s.Session, err = db.Session(w.ctx, key); err != nil {
		return s, err
	}
	if s.Epoch == "" {
		return s, exit{exitFault, bot.ErrNoSession(key).Error()}
	}
	s.Selection, err = db.Selection(w.ctx, key)
	return s, err
}

// print tells a session, a line for each thing that is known.
func (j sessionJSON) print(out io.Writer, sel fallback.Selection, now time.Time) {
	t := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	line := func(what, text string) {
		if text != "" {
			fmt.Fprintf(t, "%s\t%s\n", what, text)
		}
	}
	line("Session", j.Key)
	line("Label", j.Label)
	line("Agent", j.Agent)
	line("Since", bot.Moment(j.Started, now))
	if j.LastInteraction != nil {
		line("Last spoken to", bot.Moment(*j.LastInteraction, now))
	}
	place := []string{}
	for _, part := range []string{j.Channel, j.Account, j.To, j.Thread} {
		if part != "" {
			place = append(place, part)
		}
	}
	line("Where", strings.Join(place, " "))
	line("Part of", j.Parent)
	line("Model", j.model())
	if sel.Source == fallback.ByUser {
		line("", "chosen for this session; standin sessions patch --model default ends that")
	}
	line("Credential", j.Profile)
	line("Turns", fmt.Sprintf("%d, summed up %d times", j.Turns, j.Compactions))
	line("Thinking", j.Think)
	line("Verbose", j.Verbose)
	line("Usage", j.Usage)
	line("Activation", j.Activation)
	line("Queue", j.Queue)
	line("Posting", j.Send)
	_ = t.Flush()
}
