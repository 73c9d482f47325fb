package main

import (
	"standin/bot"
	"standin/fallback"
)

type authSwitchCmd struct {
	authFlags
	Profile string
	off     bool
}

func (w world) authDisableVerb() *verb {
	return w.authSwitchVerb(true, "disable", "Switch a credential off: nobody uses it, whatever happens, until it is enabled again.")
}

func (w world) authEnableVerb() *verb {
	return w.authSwitchVerb(false, "enable", "Switch a credential on again; rests that it has stay (standin auth clear ends those).")
}

func (w world) authSwitchVerb(off bool, name, help string) *verb {
	c := authSwitchCmd{off: off}
	v := w.verb(&c, name, help, profileArgument(&c.Profile))
	c.bind(v)
	return v
}

// Run turns the switch.
func (c authSwitchCmd) Run(w world) error {
	d, err := c.open(w, true)
	if err != nil {
		return err
	}
	defer d.close()
	id, by := fallback.ProfileID(c.Profile), d.deed(w, "")
	changed, known, err := d.Switch(w.ctx, d.agent, id, c.off, by)
	if err != nil {
		return err
	}
	if !known {
		return d.unknown(w, c.Profile)
	}
	by.Profile, by.Provider, by.What = id, id.Provider(), fallback.DeedEnable
	if c.off {
		by.What = fallback.DeedDisable
	}
	return c.done(w, by, changed, bot.SaySwitched(id, c.off, changed))
}
