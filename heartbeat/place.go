package heartbeat

import (
	"standin/channels"
)

// Place is where a beat's answer goes: an address, or the reason why it is
// posted nowhere. The turn runs in either case [H12].
type Place struct {
	To  channels.Address
	Why Why
}

// place decides by the target [H4]. last is where the session was last spoken
// to. chat gives the kind of chat of an address, known tells whether the account
// exists.
func (c Config) place(last channels.Address, chat func(channels.Address) channels.ChatType, known func(channels.Address) bool) Place {
	to := channels.Address{}
	switch {
	case c.Target == TargetLast:
		to = last
	case c.Target != TargetNone && c.Target != "":
		to = channels.Address{Channel: c.Target, Account: plain(c.Account), Conversation: c.To}
		if c.To == "" && last.Channel == c.Target && (c.Account == "" || last.Account == to.Account) {
			to = last
		}
	}
	switch {
	case to.Channel == "" || to.Conversation == "":
		return Place{Why: WhyNoTarget}
	case !known(to):
		return Place{Why: WhyNoAccount}
	case c.BlockDirect && chat(to) == channels.Direct:
		return Place{Why: WhyDirect}
	}
	return Place{To: to}
}

// plain is an account as addresses have it: the default one has no name.
func plain(account string) string {
	if account == "default" {
		return ""
	}
	return account
}

// Visibility says what of a heartbeat a place gets to see [H14].
type Visibility struct {
	OK        bool // the bare acknowledgement too
	Alerts    bool // what the agent has to say
	Indicator bool // that it is at work
}

// Visible is what a place sees that says nothing of its own.
func Visible() Visibility { return Visibility{Alerts: true, Indicator: true} }

// Visibilities are channels.defaults.heartbeat, channels.<channel>.heartbeat and
// those of accounts, each laid over the one before when the config is read.
type Visibilities struct {
	Default  Visibility
	Channels map[string]Visibility
	Accounts map[string]map[string]Visibility // by channel and account, "" the default one
}

// At gives what is seen at an address: the most exact setting counts [H14].
func (v Visibilities) At(to channels.Address) Visibility {
	if own, ok := v.Accounts[to.Channel][to.Account]; ok {
		return own
	}
	if own, ok := v.Channels[to.Channel]; ok {
		return own
	}
	return v.Default
}
