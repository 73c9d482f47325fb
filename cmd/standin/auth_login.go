package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"standin/bot"
	"standin/fallback"
	"standin/fallback/auth"
	"standin/store"
)

type authLoginCmd struct {
	authFlags
	Provider string
	ID       string
	Paste    bool
	Device   bool
}

func (w world) authLoginVerb() *verb {
	var c authLoginCmd
	v := w.verb(&c, "login", "Log in to a subscription in the browser, such as ChatGPT's for Codex.",
		argument{name: "provider", help: "Provider id, such as openai.", to: &c.Provider})
	c.bind(v)
	v.Flags().Var(text{&c.ID, "NAME"}, "id", "Name of the credential (default: the account's e-mail address).")
	v.Flags().BoolVar(&c.Paste, "paste", false, "The browser is on another machine: paste the address that it ends on.")
	v.Flags().BoolVar(&c.Device, "device", false, "Type a short code on another device.")
	return v
}

// loginLimit is how long a person may take in the browser.
const loginLimit = 15 * time.Minute

// Run logs in and stores what came of it.
func (c authLoginCmd) Run(w world) error {
	if c.Paste && c.Device {
		return exit{exitUsage, "--paste and --device are two ways; take one"}
	}
	d, err := c.open(w, true)
	if err != nil {
		return err
	}
	defer d.close()
	vendors := d.logins
	name := fallback.CredentialProviders(c.Provider)[0]
	vendor, known := vendors[name]
	if !known {
		return exit{exitFault, fmt.Sprintf("there is no login for %s; there is one for: %s. Its API key is stored with: standin auth add %s",
			name, strings.Join(slices.Sorted(maps.Keys(vendors)), ", "), name)}
	}
	ctx, cancel := context.WithTimeout(w.ctx, loginLimit)
	defer cancel()
	var got auth.Credential
	switch {
	case c.Device:
		got, err = c.onDevice(ctx, w, vendor)
	case c.Paste:
		got, err = c.byPaste(ctx, w, vendor)
	default:
		got, err = c.inBrowser(ctx, w, vendor)
	}
	if err != nil {
		return exit{exitFault, "the login came to nothing: " + err.Error()}
	}
	return c.keep(w, d, got)
}

func (c authLoginCmd) inBrowser(ctx context.Context, w world, vendor auth.Vendor) (auth.Credential, error) {
	l, err := auth.NewLogin(vendor)
	if err != nil {
		return auth.Credential{}, err
	}
	if err := l.Listen(); err != nil {
		return auth.Credential{}, err
	}
	fmt.Fprintf(w.stderr, "Open this address in a browser on this machine:\n\n  %s\n\nIt ends on a page of mine, and the login is finished here. For a browser elsewhere: --paste, or --device.\n", l.URL())
	return l.Wait(ctx)
}

func (c authLoginCmd) byPaste(ctx context.Context, w world, vendor auth.Vendor) (auth.Credential, error) {
	l, err := auth.NewLogin(vendor)
	if err != nil {
		return auth.Credential{}, err
	}
	fmt.Fprintf(w.stderr, "Open this address in any browser:\n\n  %s\n\nIt ends on a page that cannot be loaded. Copy that page's whole address, and paste it here: ", l.URL())
	line, err := bufio.NewReader(w.stdin).ReadString('\n')
	if strings.TrimSpace(line) == "" {
		return auth.Credential{}, errors.Join(errors.New("nothing was pasted"), err)
	}
	return l.Paste(ctx, line)
}

func (c authLoginCmd) onDevice(ctx context.Context, w world, vendor auth.Vendor) (auth.Credential, error) {
	device, err := auth.Device(ctx, vendor, nil, nil)
	if err != nil {
		return auth.Credential{}, err
	}
	fmt.Fprintf(w.stderr, "On any device open %s and type this code, before %s:\n\n  %s\n\n", device.Page, bot.Clock(device.Expires, time.Now()), device.Code)
	if device.Link != "" {
		fmt.Fprintf(w.stderr, "Or open %s\n", device.Link)
	}
	return device.Wait(ctx)
}

// keep stores a login.
func (c authLoginCmd) keep(w world, d *desk, got auth.Credential) error {
	id := fallback.ProfileID(got.ID())
	if c.ID != "" {
		var err error
		if id, err = profileID(got.Provider, c.ID); err != nil {
			return err
		}
	}
	by := d.deed(w, "")
	by.What = fallback.DeedLogin
	replaced, err := d.AddCredential(w.ctx, d.agent, store.Credential{ID: id, Provider: got.Provider, Type: fallback.OAuth, Secret: got.Secret()}, by)
	if err != nil {
		return err
	}
	line := fmt.Sprintf("Logged in: stored %s.", id)
	if replaced {
		line = fmt.Sprintf("Logged in: replaced %s, and its rests are gone.", id)
	}
	if got.Plan != "" {
		line += " Plan: " + got.Plan + "."
	}
	if got.Refresh.Empty() {
		line += " It cannot renew itself: log in again when it has expired."
	}
	by.Profile, by.Provider = id, got.Provider
	return c.done(w, by, true, line+" A running daemon uses it from its next call on.")
}
