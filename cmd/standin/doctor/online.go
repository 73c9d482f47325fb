package doctor

import (
	"net/http"

	"standin/channels/discord"
	"standin/channels/slack"
	"standin/cmd/standin/config"
)

// online asks the platforms about the accounts, and providers for the time.
func (x *exam) online() {
	if x.conf == nil {
		return
	}
	for _, a := range x.conf.Accounts {
		if a.Off || len(a.Faults) > 0 {
			continue // told already
		}
		say := func(ok bool, what, mend string) {
			if !ok {
				x.r.add(Finding{Area: Channels, Level: Error, Where: a.String(), What: what, Mend: mend})
			}
		}
		if a.Channel == slack.Name {
			found, err := slack.Check(x.ctx, a.SlackOptions(config.Opening{}), "")
			if err != nil {
				return // ctx is over
			}
			for _, f := range found {
				say(f.OK, f.What+": "+f.Say, f.Mend)
			}
			continue
		}
		for _, f := range discord.Check(x.ctx, a.DiscordOptions(config.Opening{})) {
			say(f.Mend == "", f.What, f.Mend)
		}
	}
	client := x.Client
	if client == nil {
		client = &http.Client{}
	}
	asked, compared := map[string]bool{}, false
	for _, plan := range x.conf.Plans {
		for _, m := range plan.Chain {
			url := x.conf.Fallback.Providers[m.Provider].BaseURL
			if url == "" || asked[m.Provider] {
				continue
			}
			asked[m.Provider] = true
			theirs, ours, err := timeOf(x.ctx, client, url)
			switch {
			case x.ctx.Err() != nil:
				return
			case theirs.IsZero() && err != nil:
				x.r.add(Unreachable(m.Provider, err))
			case err == nil && !compared:
				compared = true
				x.r.add(Skew(m.Provider, theirs, ours)...)
			}
		}
	}
}
