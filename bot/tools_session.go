package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"standin/bot/tools"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// SessionState is a session with its stored selection.
type SessionState struct {
	Session
	Selection fallback.Selection
}

// statusTool is session_status [M10, C17]: what /status tells, the time, and the
// model of the session as a person would choose it.
func (b *Bot) statusTool() tools.Tool {
	return tools.Tool{
		Name:        "session_status",
		Description: "Tells the current time, the model of this conversation, what stands in for it and why, and its history. With model it chooses the model for this conversation when the person asks for that: a name or alias, or \"default\".",
		Schema: `{"type":"object","properties":{
			"session":{"type":"string","description":"Another conversation's key, as sessions_list gives it. Default: this one."},
			"model":{"type":"string","description":"The model to choose from now on, or default."}},"additionalProperties":false}`,
		Run: func(ctx context.Context, at tools.Place, input json.RawMessage) (tools.Result, error) {
			in, err := tools.Read[struct{ Session, Model string }](input)
			if err != nil {
				return tools.Result{}, err
			}
			s, err := reach(at, in.Session)
			if err != nil {
				return tools.Result{}, err
			}
			if in.Model != "" {
				if !at.Authorized && !at.Owner || at.Tainted {
					return tools.Result{}, errors.New("the model is chosen by people who may give commands here, in a message of their own: they can write /model " + in.Model)
				}
				if err := b.Patch(ctx, s, in.Model); err != nil {
					return tools.Result{}, err
				}
			}
			text, err := b.statusOf(ctx, at, s)
			if err != nil {
				return tools.Result{}, err
			}
			return tools.Say("Now: %s\n%s", b.clock(at.Agent), text)
		},
	}
}

// reach gives the session that a tool is about. Other conversations are the
// owner's to look into, in private.
func reach(at tools.Place, key string) (fallback.SessionID, error) {
	s := fallback.SessionID(strings.TrimSpace(key))
	if s == "" || s == at.Session {
		return at.Session, nil
	}
	if !at.Owner || at.Shared() || at.Tainted {
		return "", errors.New("other conversations can be looked into by the owner only, in a direct chat")
	}
	return s, nil
}

// clock is the agent's time, for the model: prompts have none, so that vendors'
// caches stay warm [G35].
func (b *Bot) clock(a fallback.AgentID) string {
	return b.Now().In(b.zone(a)).Format("Monday, 2 January 2006, 15:04 MST (-07:00)")
}

// statusOf is /status of a session, as this place would be told it.
func (b *Bot) statusOf(ctx context.Context, at tools.Place, s fallback.SessionID) (string, error) {
	sess, err := b.Store.Session(ctx, s)
	if err != nil {
		return "", err
	}
	if sess.Epoch == "" {
		return "", fmt.Errorf("there is no conversation %s", s)
	}
	row := Accepted{Session: s, Agent: sess.Agent, In: channels.Inbound{To: sess.Route, Chat: at.Chat}}
	r, err := b.run(ctx, b.Config(), row, call{name: "status", cmd: b.command("status")})
	return r.text, err
}

// sessionsTool is sessions_list.
func (b *Bot) sessionsTool() tools.Tool {
	return tools.Tool{
		Name: "sessions_list", Owner: true, Private: true,
		Description: "Lists the latest conversations: key, place, model, when somebody last wrote.",
		Schema:      `{"type":"object","properties":{"limit":{"type":"integer","minimum":1,"maximum":50,"description":"Default 20."}},"additionalProperties":false}`,
		Run: func(ctx context.Context, _ tools.Place, input json.RawMessage) (tools.Result, error) {
			in, err := tools.Read[struct{ Limit int }](input)
			if err != nil {
				return tools.Result{}, err
			}
			if in.Limit <= 0 || in.Limit > 50 {
				in.Limit = 20
			}
			all, err := b.Store.Sessions(ctx, in.Limit)
			if err != nil {
				return tools.Result{}, err
			}
			var lines []string
			for _, s := range all {
				line := fmt.Sprintf("%s: %s, %d turns, last written %s", s.Key, placeOf(s.Route), s.Turns, s.LastInteraction.UTC().Format("2006-01-02 15:04 UTC"))
				if m := s.Selection.Model; !m.IsZero() {
					line += fmt.Sprintf(", on %s (%s)", m, s.Selection.Source)
				}
				lines = append(lines, line)
			}
			if len(lines) == 0 {
				return tools.Say("There is no conversation yet.")
			}
			return tools.Say("%s", strings.Join(lines, "\n"))
		},
	}
}

func placeOf(a channels.Address) string {
	switch {
	case a.Channel == "":
		return "no place"
	case a.Thread != "":
		return a.Channel + ":" + a.Conversation + ":" + a.Thread
	}
	return a.Channel + ":" + a.Conversation
}

// historyTool is sessions_history.
func (b *Bot) historyTool() tools.Tool {
	return tools.Tool{
		Name: "sessions_history", Owner: true, Private: true, Foreign: true,
		Description: "Shows the last turns of another conversation.",
		Schema: `{"type":"object","properties":{"session":{"type":"string","description":"The conversation's key, as sessions_list gives it."},
			"turns":{"type":"integer","minimum":1,"maximum":50,"description":"Default 10."}},"required":["session"],"additionalProperties":false}`,
		Run: func(ctx context.Context, at tools.Place, input json.RawMessage) (tools.Result, error) {
			in, err := tools.Read[struct {
				Session string
				Turns   int
			}](input)
			if err != nil {
				return tools.Result{}, err
			}
			s, err := reach(at, in.Session)
			if err != nil {
				return tools.Result{}, err
			}
			sess, err := b.Store.Session(ctx, s)
			if err != nil {
				return tools.Result{}, err
			}
			if sess.Epoch == "" {
				return tools.Result{}, fmt.Errorf("there is no conversation %s; sessions_list gives their keys", s)
			}
			if in.Turns <= 0 || in.Turns > 50 {
				in.Turns = 10
			}
			past, err := b.Store.History(ctx, s, sess.Epoch, in.Turns)
			if err != nil {
				return tools.Result{}, err
			}
			var out strings.Builder
			for _, e := range past {
				if e.Text != "" {
					who := "them"
					if e.Role == provider.Assistant {
						who = "you"
					}
					fmt.Fprintf(&out, "[%s] %s: %s\n", e.At.UTC().Format("2006-01-02 15:04"), who, e.Text)
				}
			}
			return tools.Say("%s", strings.TrimSpace(out.String()))
		},
	}
}
