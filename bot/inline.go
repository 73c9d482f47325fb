package bot

import (
	"context"
	"strconv"

	"standin/bot/policy"
	"standin/channels"
)

// inline answers the commands that stand inside an authorized person's text and
// gives the rest, which goes on as a message [C15]. The answers have ids of the
// message's own: written twice, after a restart in between, they are posted once.
func (b *Bot) inline(ctx context.Context, cfg *Config, row Accepted) (rest string) {
	if s, _ := cfg.Rules.Surface(row.In.To); !row.In.Authorized || s.NativeOnly {
		return row.In.Text // plain text [C2]
	}
	names, rest := policy.Inline(row.In.Text)
	e := Ending{Session: row.Session, How: Commanded, Background: true}
	for i, name := range names {
		cmd := b.command(name)
		if cmd == nil {
			continue
		}
		r, err := b.run(ctx, cfg, row, call{cmd: cmd, name: name})
		if err != nil {
			b.Log.Error("command failed", "command", name, "session", row.Session, "err", err)
			continue
		}
		answer := post(e.Turn, channels.Command, row.In, r.text)
		answer.ID = "i" + strconv.FormatInt(row.ID, 36) + "-" + strconv.FormatInt(row.At.UnixMilli(), 36) + "-" + strconv.Itoa(i)
		e.Why, e.Posts = name, append(e.Posts, answer)
	}
	if len(e.Posts) == 0 {
		return rest
	}
	e.Posts = b.refer(cfg, row.In, false, policy.Tag{}, e.Posts)
	if err := b.endAlone(ctx, e); err != nil {
		b.Log.Error("inline command not answered", "session", row.Session, "err", err)
	}
	return rest
}
