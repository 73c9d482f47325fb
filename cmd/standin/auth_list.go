package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"standin/bot"
	"standin/fallback"
)

type authListCmd struct{ authFlags }

func (w world) authListVerb() *verb {
	var c authListCmd
	v := w.verb(&c, "list", "List all credentials: how each stands, when it comes back, which is next.")
	c.bind(v)
	return v
}

// Run prints the credentials, without secrets: stored ones, those that the
// config names and those of the environment.
func (c authListCmd) Run(w world) error {
	d, err := c.open(w, false)
	if err != nil {
		return err
	}
	defer d.close()
	all, err := bot.Credentials(w.ctx, d, d.config, d.agent, d.now)
	if err != nil {
		return err
	}
	if c.JSON {
		for _, v := range all {
			if err := printLine(w, v); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		fmt.Fprintf(w.stdout, "There is no credential for agent %s: none is stored, and neither the config nor the environment names one.\nStore an API key with: standin auth add openai\nLog in to a subscription with: standin auth login openai\n", d.agent)
		return nil
	}
	table := tabwriter.NewWriter(w.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "PROFILE\tTYPE\tACCOUNT\tSTATE\tTURN\tLAST USED\tSESSIONS\tFROM")
	for _, v := range all {
		last := "never"
		if !v.LastUsed.IsZero() {
			last = bot.Moment(v.LastUsed, d.now)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", v.Profile, v.Type, dash(v.Account), bot.SayState(v, d.now),
			dash(bot.SayTurn(v)), last, sessionsOf(v), v.From)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return c.orders(w, d, all)
}

// orders says of each provider with several credentials what decides among them.
func (c authListCmd) orders(w world, d *desk, all []bot.CredentialView) error {
	vendors, how := []string{}, map[string]int{}
	for _, v := range all {
		vendor := fallback.CredentialProviders(v.Provider)[0]
		if how[vendor]++; how[vendor] == 2 {
			vendors = append(vendors, vendor)
		}
	}
	for i, vendor := range vendors {
		kept, owner, _, err := d.Order(w.ctx, d.agent, vendor)
		if err != nil {
			return err
		}
		if i == 0 {
			fmt.Fprintln(w.stdout)
		}
		fmt.Fprintln(w.stdout, bot.SayOrder(vendor, kept, owner, d.config, all))
	}
	return nil
}

func sessionsOf(v bot.CredentialView) string {
	switch n := len(v.Sessions); n {
	case 0:
		return "-"
	case 1:
		return string(v.Sessions[0].Session)
	default:
		return fmt.Sprintf("%d: %s …", n, v.Sessions[0].Session)
	}
}

func dash(s string) string {
	if strings.TrimSpace(s) == "" {
		return "-"
	}
	return s
}
