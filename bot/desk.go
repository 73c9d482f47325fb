package bot

import (
	"context"
	"fmt"
	"strings"

	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
)

// Desk is a bot without a daemon: it changes what is stored of sessions, as a
// command line does, and neither runs a turn nor posts anything.
func Desk(o Options) *Bot {
	b := New(o)
	b.stopping = true
	b.die(ErrShutdown)
	return b
}

// Adjustment is what sessions.patch changes [C16]; nil fields stay.
type Adjustment struct {
	Who   string // who does it, for the record
	Model *string
	Send  *string
	Queue *string
	Set   []Setting
}

// ErrNoSession says that a session is not stored.
type ErrNoSession fallback.SessionID

func (e ErrNoSession) Error() string {
	return fmt.Sprintf("there is no session %s; standin sessions list shows those that there are", string(e))
}

// Adjust makes the changes of a, all or none. An error that is not the store's
// says in words for people what was refused.
func (b *Bot) Adjust(ctx context.Context, s fallback.SessionID, a Adjustment) error {
	cfg := b.Config()
	sess, err := b.Store.Session(ctx, s)
	if err != nil {
		return err
	}
	if sess.Epoch == "" {
		return ErrNoSession(s)
	}
	sel, err := b.Store.Selection(ctx, s)
	if err != nil {
		return err
	}
	o := &order{Bot: b, cfg: cfg, row: Accepted{Session: s, Agent: sess.Agent, In: channels.Inbound{From: channels.User{Name: a.Who}}},
		name: "sessions.patch", now: b.Now(), sess: sess, sel: sel}
	var r reply
	if a.Model != nil {
		ref := *a.Model
		if strings.TrimSpace(ref) == "" {
			ref = wordDefault
		}
		m, profile, err := o.pick(ctx, ref)
		if err != nil {
			return err
		}
		chosen := o.choose(m, profile)
		r.choose = &chosen
	}
	e := Ending{Session: s, How: Commanded, Why: o.name, Background: true, change: o.change(r)}
	if r.choose != nil {
		e.Choose = &Choice{Session: s, Now: *r.choose}
	}
	for _, c := range a.Set {
		checked, err := ParseSetting(c.Name, c.Value)
		if err != nil {
			return err
		}
		e.Set = append(e.Set, checked)
	}
	if a.Send != nil {
		own := strings.ToLower(*a.Send)
		switch own {
		case "inherit", wordDefault, "":
			own = ""
		case "on", "off":
		default:
			return refusal(fmt.Sprintf("%q is no setting of send: it is on, off or inherit", policy.Short(*a.Send, 40)))
		}
		e.Send = &own
	}
	if a.Queue != nil {
		own := ""
		if *a.Queue != "" && *a.Queue != wordDefault {
			q, err := policy.ParseQueue(*a.Queue)
			if err != nil {
				return refusal(err.Error())
			}
			own = q.String()
		}
		e.Queue = &own
	}
	return b.endAlone(ctx, e)
}
