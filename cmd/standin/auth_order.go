package main

import (
	"fmt"

	"standin/bot"
	"standin/fallback"
)

type authOrderCmd struct {
	authFlags
	Provider string
	Profiles []string
	act      string
}

func (w world) authOrderVerb() *verb {
	order := func(act, help string) *verb {
		c := &authOrderCmd{act: act}
		args := []argument{{name: "provider", help: "Provider id, such as openai.", to: &c.Provider}}
		if act == "set" {
			args = append(args, argument{name: "profile", help: "Profile ids, the first one first. Others of the provider are not used.", rest: &c.Profiles})
		}
		v := w.verb(c, act, help, args...)
		c.bind(v)
		return v
	}
	return w.group("order", "The order in which an agent uses a provider's credentials; it stands before the config's.",
		order("get", "Say which order counts, and what it comes to now."),
		order("set", "Keep an order for the agent."),
		order("clear", "Drop the order that is kept: the config's counts again, or they take turns."))
}

// Run shows or changes the order.
func (c authOrderCmd) Run(w world) error {
	vendor := fallback.NormalProvider(c.Provider)
	d, err := c.open(w, c.act != "get")
	if err != nil {
		return err
	}
	defer d.close()
	all, err := bot.Credentials(w.ctx, d, d.config, d.agent, d.now)
	if err != nil {
		return err
	}
	kept, owner, found, err := d.Order(w.ctx, d.agent, vendor)
	if err != nil {
		return err
	}
	if c.act == "get" {
		if c.JSON {
			return printLine(w, struct {
				Provider string               `json:"provider"`
				Agent    string               `json:"agent"`
				Kept     []fallback.ProfileID `json:"order"` // null: none is kept
				Owner    fallback.AgentID     `json:"orderOf,omitempty"`
				Config   []fallback.ProfileID `json:"config"` // auth.order; null: none
			}{vendor, c.Agent, kept, owner, d.config.Order[vendor]})
		}
		fmt.Fprintln(w.stdout, bot.SayOrder(vendor, kept, owner, d.config, all))
		return nil
	}
	var ids []fallback.ProfileID
	if c.act == "set" {
		if ids, err = bot.ReadOrder(vendor, c.Profiles, all); err != nil {
			return exit{exitFault, err.Error()}
		}
	}
	by := d.deed(w, bot.SayIDs(ids))
	if err := d.SetOrder(w.ctx, d.agent, vendor, ids, by); err != nil {
		return err
	}
	by.Provider, by.What = vendor, fallback.DeedOrder
	if ids == nil {
		by.What = fallback.DeedClearOrder
	}
	return c.done(w, by, found || ids != nil, bot.SayOrdered(vendor, ids, d.config))
}
