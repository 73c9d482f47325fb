package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"text/tabwriter"
	"time"

	"standin/bot"
	"standin/cmd/standin/config"
	"standin/store"
)

// pairingVerb is `standin pairing`: who may write to the agents directly. It
// works beside a running daemon, which goes by it from the next message on.
func (w world) pairingVerb() *verb {
	return w.group("pairing", "Who may write to the agents directly.",
		w.pairingListVerb(), w.pairingApproveVerb(), w.pairingDenyVerb(), w.pairingRemoveVerb())
}

type pairingFlags struct{ stateFlag }

// platformArgument is the platform that a pairing is of.
func platformArgument(to *string) argument {
	return argument{name: "channel", help: "slack or discord.", to: to, choices: []string{"slack", "discord"}}
}

// codeArgument is the code of a request.
func codeArgument(to *string) argument {
	return argument{name: "code", help: "The code that the person was given.", to: to}
}

func (f pairingFlags) open(w world) (*store.DB, error) {
	db, err := store.OpenBeside(w.ctx, f.options(w))
	if err != nil {
		return nil, exit{exitUsage, "state: " + err.Error()}
	}
	return db, nil
}

type pairingListCmd struct {
	pairingFlags
	JSON bool
}

func (w world) pairingListVerb() *verb {
	var c pairingListCmd
	v := w.verb(&c, "list", "List who asks to be let in, and who was.")
	c.bind(v)
	v.Flags().BoolVar(&c.JSON, "json", false, "As JSON.")
	return v
}

// pairingJSON is what scripts read of a pairing. The code is what an operator is
// to type, so it is no secret to them.
type pairingJSON struct {
	Channel  string     `json:"channel"`
	Account  string     `json:"account"`
	User     string     `json:"user"`
	Name     string     `json:"name,omitempty"`
	Code     string     `json:"code,omitempty"`
	Asked    time.Time  `json:"asked"`
	Expires  *time.Time `json:"expires,omitempty"`
	Approved *time.Time `json:"approved,omitempty"`
	Owner    bool       `json:"owner,omitempty"`
}

// Run lists requests first, then people.
func (c pairingListCmd) Run(w world) error {
	db, err := store.OpenReadOnly(w.ctx, c.options(w))
	if err != nil {
		return exit{exitUsage, "state: " + err.Error()}
	}
	defer db.Close()
	now := time.Now()
	all, err := db.Pairings(w.ctx, now)
	if err != nil {
		return err
	}
	if c.JSON {
		list := []pairingJSON{}
		for _, p := range all {
			one := pairingJSON{Channel: p.Channel, Account: cmp.Or(p.Account, "default"), User: p.User, Name: p.Name, Asked: p.Asked, Owner: p.Owner}
			if p.Approved.IsZero() {
				one.Code, one.Expires = p.Code, &p.Expires
			} else {
				one.Approved = &p.Approved
			}
			list = append(list, one)
		}
		return printJSON(w, list)
	}
	if len(all) == 0 {
		fmt.Fprintln(w.stdout, "Nobody asks to be let in, and nobody was.")
		return nil
	}
	t := tabwriter.NewWriter(w.stdout, 0, 4, 2, ' ', 0)
	for _, p := range all {
		what := fmt.Sprintf("asks, code %s, for %s more", p.Code, counted(max(1, int(p.Expires.Sub(now).Round(time.Minute).Minutes())), "minute"))
		switch {
		case p.Owner:
			what = "owner since " + p.Approved.Local().Format(time.DateOnly)
		case !p.Approved.IsZero():
			what = "approved " + p.Approved.Local().Format(time.DateOnly)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", config.Place{Channel: p.Channel, Account: p.Account}, p.User, p.Name, what)
	}
	return t.Flush()
}

type pairingApproveCmd struct {
	pairingFlags
	Config  string
	Channel string
	Code    string
}

func (w world) pairingApproveVerb() *verb {
	var c pairingApproveCmd
	v := w.verb(&c, "approve", "Let somebody in, by the code that they were given.", platformArgument(&c.Channel), codeArgument(&c.Code))
	c.bind(v)
	v.Flags().VarP(text{&c.Config, "FILE"}, "config", "c", "Config file, which says whether there is an owner (default: $STANDIN_CONFIG, then config.yaml in the state folder).")
	return v
}

// Run lets the person in. Where the config names no owner the first who is let
// in becomes it [P2].
func (c pairingApproveCmd) Run(w world) error {
	path, _ := config.Find(c.Config, c.dir(w), w.getenv)
	firstOwns := true
	if path != "" {
		conf, faults := config.Load(path, w.getenv)
		if conf == nil {
			config.PrintFaults(w.stderr, faults)
			return exit{exitUsage, fmt.Sprintf("%s cannot be used, so it is not known whether there is an owner; mend the lines above", path)}
		}
		firstOwns = len(conf.Bot.Rules.Commands.Owners) == 0
	}
	db, err := c.open(w)
	if err != nil {
		return err
	}
	defer db.Close()
	p, err := db.Approve(w.ctx, c.Channel, c.Code, time.Now(), firstOwns)
	if err != nil {
		return unknownCode(err)
	}
	fmt.Fprintf(w.stdout, "%s is let in on %s, for direct messages, from the next one on.\n", nameOf(p), config.Place{Channel: p.Channel, Account: p.Account})
	if p.Owner {
		fmt.Fprintln(w.stdout, "As the first one, they are the owner now and may give commands wherever they are let in. commands.ownerAllowFrom names others.")
	}
	if p.Conversation == "" {
		return nil // they asked before their chat was kept
	}
	if askDaemon(w.ctx, c.dir(w), http.MethodPost, "/outbox/nudge", nil, nil) == nil {
		fmt.Fprintln(w.stdout, "They are being told.")
	} else {
		fmt.Fprintln(w.stdout, "They are told once standin serves.")
	}
	return nil
}

type pairingDenyCmd struct {
	pairingFlags
	Channel string
	Code    string
}

func (w world) pairingDenyVerb() *verb {
	var c pairingDenyCmd
	v := w.verb(&c, "deny", "Take a request away. The person may ask again.", platformArgument(&c.Channel), codeArgument(&c.Code))
	c.bind(v)
	return v
}

// Run takes the request away.
func (c pairingDenyCmd) Run(w world) error {
	db, err := c.open(w)
	if err != nil {
		return err
	}
	defer db.Close()
	p, err := db.Deny(w.ctx, c.Channel, c.Code, time.Now())
	if err != nil {
		return unknownCode(err)
	}
	fmt.Fprintf(w.stdout, "The request of %s on %s is gone.\n", nameOf(p), config.Place{Channel: p.Channel, Account: p.Account})
	return nil
}

type pairingRemoveCmd struct {
	pairingFlags
	Account string
	Channel string
	User    string
}

func (w world) pairingRemoveVerb() *verb {
	c := pairingRemoveCmd{Account: "default"}
	v := w.verb(&c, "remove", "Take an approval back.", platformArgument(&c.Channel),
		argument{name: "user", help: "The person's id, as standin pairing list shows it.", to: &c.User})
	c.bind(v)
	v.Flags().Var(text{&c.Account, "NAME"}, "account", "Account of the channel.")
	return v
}

// Run takes the approval back.
func (c pairingRemoveCmd) Run(w world) error {
	db, err := c.open(w)
	if err != nil {
		return err
	}
	defer db.Close()
	account := c.Account
	if account == "default" {
		account = ""
	}
	err = db.Unpair(w.ctx, c.Channel, account, c.User)
	if errors.Is(err, bot.ErrNoPairing) {
		return exit{exitFault, fmt.Sprintf("%s is not paired on %s", c.User, config.Place{Channel: c.Channel, Account: account})}
	}
	if err == nil {
		fmt.Fprintf(w.stdout, "%s is not let in on %s any more.\n", c.User, config.Place{Channel: c.Channel, Account: account})
	}
	return err
}

// unknownCode is the answer to a code that nobody waits with.
func unknownCode(err error) error {
	if errors.Is(err, bot.ErrNoPairing) {
		return exit{exitFault, err.Error()}
	}
	return err
}

func nameOf(p bot.Pairing) string {
	if p.Name != "" && p.Name != p.User {
		return fmt.Sprintf("%s (%s)", p.Name, p.User)
	}
	return p.User
}
