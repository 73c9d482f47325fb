package main

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/oklog/ulid/v2"

	"standin/bot"
	"standin/cmd/standin/daemon"
	"standin/fallback"
	"standin/fallback/auth"
	"standin/fallback/provider"
)

// modelsVerb is `standin models`.
func (w world) modelsVerb() *verb {
	return w.group("models", "The models of an agent and what they are reached with.", w.modelsStatusVerb())
}

// modelsStatusCmd is `standin models status` [G27]. It needs no daemon.
type modelsStatusCmd struct {
	authFlags
	Check, Probe, Yes bool
}

func (w world) modelsStatusVerb() *verb {
	var c modelsStatusCmd
	v := w.verb(&c, "status", "Say which models an agent asks in which order, and how their credentials are.")
	c.bind(v)
	v.Flags().BoolVar(&c.Check, "check", false, "Exit with 1 when a model of the chain has no usable credential or one has expired, 2 when one expires within a day.")
	v.Flags().BoolVar(&c.Probe, "probe", false, "Ask each model of the chain for one word, which costs a little, and say what came of it.")
	v.Flags().BoolVar(&c.Yes, "yes", false, "With --probe: do not ask before the requests are made.")
	return v
}

// soon is how long before its end a credential is told of.
const soon = 24 * time.Hour

// The exit codes of --check.
const (
	exitMissing = 1
	exitSoon    = 2
)

// modelsStatus is what is told, for people and as --json. The names are stable.
type modelsStatus struct {
	Agent     string         `json:"agent"`
	Primary   string         `json:"primary"`
	Fallbacks []string       `json:"fallbacks"`
	Strict    bool           `json:"strict"`
	Allowed   []string       `json:"allowed"` // what people may choose; empty: what is configured
	Models    []modelStatus  `json:"models"`
	Check     string         `json:"check"` // ok, missing, expired, expiring
	Probes    []modelProbing `json:"probes,omitempty"`
}

type modelStatus struct {
	Model       string               `json:"model"`
	Auth        string               `json:"auth"` // ok, missing, expired, expiring
	Credentials []bot.CredentialView `json:"credentials"`
}

type modelProbing struct {
	Model      string `json:"model"`
	Credential string `json:"credential"`
	OK         bool   `json:"ok"`
	Says       string `json:"says"`
}

// Run prints the status.
func (c modelsStatusCmd) Run(w world) error {
	if c.Yes && !c.Probe {
		return misuse{"--yes goes with --probe"}
	}
	q, err := questionFlags{Config: c.Config, stateFlag: c.stateFlag}.open(w, time.Now())
	if err != nil && c.Check {
		fmt.Fprintln(w.stderr, "standin:", err)
		return exit{code: exitMissing} // 2 would say that something expires soon
	}
	if err != nil {
		return err
	}
	q.close()
	d, err := c.open(w, c.Probe)
	if err != nil {
		return err
	}
	defer d.close()
	all, err := bot.Credentials(w.ctx, d, d.config, d.agent, d.now)
	if err != nil {
		return err
	}
	keyless, err := c.keyless(w, d)
	if err != nil {
		return err
	}
	s := modelsStatusOf(d.config, d.agent, all, keyless, d.now)
	if c.Probe {
		if s.Probes, err = c.probe(w, d, s); err != nil {
			return err
		}
	}
	if c.JSON {
		err = printJSON(w, s)
	} else {
		err = s.print(w, d.now)
	}
	switch {
	case err != nil:
		return err
	case slices.ContainsFunc(s.Probes, func(p modelProbing) bool { return !p.OK }):
		return exit{code: exitFault}
	case c.Check && s.Check == "expiring":
		return exit{code: exitSoon}
	case c.Check && s.Check != "ok":
		return exit{code: exitMissing}
	}
	return nil
}

// keyless gives the providers that want no credential, such as servers of this
// machine.
func (c modelsStatusCmd) keyless(w world, d *desk) (map[string]bool, error) {
	found := map[string]bool{}
	for _, m := range d.config.Models() {
		profiles, err := d.Profiles(w.ctx, d.agent, m.Provider)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(profiles, func(p fallback.Profile) bool { return p.Keyless }) {
			found[m.Provider] = true
		}
	}
	return found, nil
}

func modelsStatusOf(cfg *fallback.Config, a fallback.AgentID, all []bot.CredentialView, keyless map[string]bool, now time.Time) modelsStatus {
	plan := fallback.Resolve(fallback.Ask{Agent: a, Kind: fallback.Chat, Config: cfg, NewSession: true}, fallback.Selection{}, false)
	chain := fallback.Chain(cfg, plan)
	s := modelsStatus{Agent: string(a), Fallbacks: []string{}, Allowed: []string{}, Models: []modelStatus{}, Check: "ok", Strict: plan.Strict || len(chain) == 1}
	for _, m := range cfg.Models() {
		if cfg.Permits(m) {
			s.Allowed = append(s.Allowed, m.String())
		}
	}
	for i, m := range chain {
		if i == 0 {
			s.Primary = m.String()
		} else {
			s.Fallbacks = append(s.Fallbacks, m.String())
		}
		one := modelStatus{Model: m.String(), Credentials: []bot.CredentialView{}}
		for _, v := range all {
			if slices.Contains(fallback.CredentialProviders(m.Provider), v.Provider) {
				one.Credentials = append(one.Credentials, v)
			}
		}
		one.Auth = authOf(one.Credentials, keyless[m.Provider], now)
		s.Models = append(s.Models, one)
		if worse(one.Auth, s.Check) {
			s.Check = one.Auth
		}
	}
	return s
}

// authOf is the best that a model's credentials have to offer: one that can be
// used is enough. A window is no fault of a credential; it passes.
func authOf(all []bot.CredentialView, keyless bool, now time.Time) string {
	best := ""
	for _, v := range all {
		state := "ok"
		switch {
		case v.State == bot.CredentialUseless && v.Reason == string(fallback.Expired):
			state = "expired"
		case v.State == bot.CredentialUseless, v.State == bot.CredentialOff, v.State == bot.CredentialUnlisted:
			state = "missing"
		case !v.Expires.IsZero() && !v.Renews && v.Expires.Before(now.Add(soon)):
			state = "expiring"
		}
		if best == "" || worse(best, state) {
			best = state
		}
	}
	switch {
	case keyless:
		return "ok"
	case best == "":
		return "missing"
	}
	return best
}

// worse orders the words of auth.
func worse(a, b string) bool {
	order := []string{"ok", "expiring", "expired", "missing"}
	return slices.Index(order, a) > slices.Index(order, b)
}

func (s modelsStatus) print(w world, now time.Time) error {
	p := func(format string, args ...any) { fmt.Fprintf(w.stdout, format+"\n", args...) }
	p("Agent %s asks %s first.", s.Agent, s.Primary)
	switch {
	case len(s.Fallbacks) > 0:
		p("When that fails: %s.", strings.Join(s.Fallbacks, ", then "))
	default:
		p("When that fails nothing else is asked: agents.defaults.model.fallbacks in the config names others.")
	}
	p("People may choose: %s.", strings.Join(s.Allowed, ", "))
	p("")
	t := tabwriter.NewWriter(w.stdout, 0, 4, 2, ' ', 0)
	for i, m := range s.Models {
		fmt.Fprintf(t, "%d. %s\t%s\n", i+1, m.Model, authWords[m.Auth])
		for _, v := range m.Credentials {
			expires := ""
			if !v.Expires.IsZero() && !v.Renews {
				expires = ", expires " + bot.Moment(v.Expires, now)
			}
			fmt.Fprintf(t, "   %s\t%s%s\t%s\n", v.Profile, bot.SayState(v, now), expires, v.From)
		}
		if m.Auth == "missing" {
			name, _, _ := strings.Cut(m.Model, "/")
			fmt.Fprintf(t, "   \tstore one with standin auth add %s\n", name)
		}
	}
	for i, one := range s.Probes {
		if i == 0 {
			fmt.Fprintln(t)
		}
		fmt.Fprintf(t, "%s\t%s\n", one.Model, one.Says)
	}
	return t.Flush()
}

var authWords = map[string]string{"ok": "has a credential", "missing": "HAS NO CREDENTIAL", "expired": "ITS CREDENTIAL HAS EXPIRED", "expiring": "its credential expires within a day"}

// probe asks each model of the chain with the first credential that can be used.
func (c modelsStatusCmd) probe(w world, d *desk, s modelsStatus) (list []modelProbing, err error) {
	quiet := slog.New(slog.DiscardHandler)
	logins := &auth.Refresher{Store: d.Credentials, Log: quiet, Now: time.Now,
		Vendor: func(id string) (auth.Vendor, bool) { v, ok := d.logins[id]; return v, ok }}
	defer logins.Close()
	r := &fallback.Runner{Credentials: d, Vendors: provider.New(provider.Options{Log: quiet}), Logins: logins, Journal: nobody{}, Log: quiet, Now: time.Now, Sleep: daemon.Sleep}
	if !c.Yes {
		fmt.Fprintf(w.stderr, "Each of the %d models is asked for one word, which costs a little. Go on? [y/N] ", len(s.Models))
		if !agrees(w) {
			return nil, exit{exitUsage, "no request was made; --yes makes them without asking"}
		}
	}
	for _, m := range s.Models {
		one := modelProbing{Model: m.Model}
		model, _ := fallback.ParseRef(m.Model)
		at := slices.IndexFunc(m.Credentials, func(v bot.CredentialView) bool { return v.Place > 0 })
		if at < 0 {
			one.Says = "was not asked: it has no credential"
			list = append(list, one)
			continue
		}
		id := fallback.ProfileID(m.Credentials[at].Profile)
		one.Credential = string(id)
		proof, err := r.Try(w.ctx, fallback.Trial{Run: strings.ToLower(ulid.Make().String()), Agent: d.agent, Profile: id, Model: model, Config: d.config})
		if err != nil {
			one.Says = err.Error()
		} else {
			one.OK, one.Says = proof.Attempt.OK, bot.SayProof(id, proof, d.now)
			by := d.deed(w, bot.SayProofShort(proof))
			by.Profile, by.Provider, by.What = id, id.Provider(), fallback.DeedProbe
			if err := d.Note(w.ctx, d.agent, by); err != nil {
				return nil, err
			}
		}
		list = append(list, one)
	}
	return list, nil
}
