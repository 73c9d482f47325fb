package bot_test

import (
	"context"
	"strings"
	"testing"

	"standin/bot"
	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
	"standin/store"
)

// ring is the store's credentials as a keyring.
type ring struct {
	*store.Credentials
	db *store.DB
}

func (r ring) Deeds(ctx context.Context, a fallback.AgentID, p fallback.ProfileID, limit int) ([]fallback.Deed, error) {
	return r.Credentials.Deeds(ctx, a, store.DeedFilter{Profile: p, Limit: limit})
}

func (r ring) Pins(ctx context.Context) (map[fallback.ProfileID][]fallback.Pinned, error) {
	return r.db.Pins(ctx)
}

// keyed gives the house two keys of openai.
func (h *house) keyed() ring {
	h.t.Helper()
	r := ring{h.db.Credentials(nil), h.db}
	for _, id := range []fallback.ProfileID{"openai:a", "openai:b"} {
		if err := r.PutCredential(context.Background(), "main", store.NewAPIKey(id, "sk-test-ABCDEFGH")); err != nil {
			h.t.Fatal(err)
		}
	}
	h.bot.Keyring = r
	return r
}

// /auth list, show, order, clear, disable, enable: the same as at a terminal,
// recorded with who gave it and where.
func TestAuthInAChat(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		r := h.keyed()
		say := func(text string, parts ...string) {
			t.Helper()
			h.post(channels.Inbound{Text: text, Authorized: true, From: channels.User{ID: "U7", Name: "Kim"}})
			h.settle()
			h.wantTold(parts...)
		}
		say("/auth", "openai:", "- openai:a (API key): usable; next", "- openai:b (API key): usable")
		say("/auth disable openai:a", "openai:a is switched off: nobody uses it from the next message on")
		say("/auth disable openai:a", "was switched off already")
		say("/auth list", "- openai:a (API key): switched off by hand since ", "- openai:b (API key): usable; next")
		say("/auth enable openai:a", "openai:a is switched on")
		say("/auth order set openai openai:b openai:a", "used in this order from the next message on: openai:b, openai:a")
		say("/auth order get openai", "kept for agent main: openai:b, openai:a")
		say("/auth show openai:a", "openai:a: API key, stored", "Turn: second in the order of openai", "Kim (U7) switched it off (/auth on room)")
		say("/auth clear openai:a", "did not rest, so there was nothing to end")
		say("/auth order clear openai", "No order is kept for openai any more")
		say("/auth clear openai:x", "There is no credential openai:x. There are: openai:a, openai:b.")
		say("/auth frob", "I do not know /auth frob", "standin auth --help")
		say("/auth disable", "That is written /auth disable <profile>")
		for _, text := range h.room.Texts(channels.Command) { // IL-030
			for i := range len("ABCDEFGH") - 3 {
				if strings.Contains(text, "ABCDEFGH"[i:i+4]) {
					t.Errorf("a part of the secret is told: %s", text)
				}
			}
		}
		deeds, err := r.Deeds(context.Background(), "main", "openai:a", 10)
		if err != nil || len(deeds) != 3 || deeds[2].Who != "Kim (U7)" || deeds[2].What != fallback.DeedDisable {
			t.Errorf("record: %+v, %v", deeds, err)
		}
	})
}

// Who may give commands may look; owners and those whom commands.allowFrom names
// may change something [C1].
func TestWhoMayChangeCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		commands policy.Commands
		may      bool
	}{
		"listed for the channel":           {policy.Commands{}, false},
		"everybody may give commands":      {policy.Commands{AllowFrom: map[string][]string{"room": {"*"}}}, false},
		"named in commands.allowFrom":      {policy.Commands{AllowFrom: map[string][]string{"room": {"boss"}}}, true},
		"named for all channels":           {policy.Commands{AllowFrom: map[string][]string{"*": {"other", "room:boss"}}}, true},
		"named in commands.ownerAllowFrom": {policy.Commands{Owners: []string{"boss"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			ruled(t, openRoom, func(t *testing.T, h *house) {
				h.keyed()
				cfg := *h.cfg
				cfg.Rules.Commands = c.commands
				h.cfg = &cfg
				for _, text := range []string{"/auth list", "/auth disable openai:a", "/auth order set openai openai:a", "/auth probe openai:a yes"} {
					h.post(toBot(inRoom("boss", text)))
					h.settle()
					refused := strings.Contains(h.told(), "Only an owner may change credentials")
					if want := !c.may && text != "/auth list"; refused != want {
						t.Errorf("%s is answered: %s", text, h.told())
					}
				}
			})
		})
	}
}

// A key is never taken in a chat. Who pasted one is told to revoke it, and it is
// in no row.
func TestAKeyPastedIntoAChatIsNotKept(t *testing.T) {
	const key = "sk-proj-aBcDeFgHiJkLmNoPqRsT"
	for text, says := range map[string][]string{
		"/auth add openai " + key:                            {"I take no secret in a chat", "At a terminal: standin auth add", "revoke it at its provider now"},
		"/auth add openai shortkey":                          {"revoke it at its provider now"},
		"/auth add openai":                                   {"At a terminal: standin auth add."},
		"/auth login openai":                                 {"At a terminal: standin auth login."},
		"/auth " + key:                                       {"That looks like a key", "revoke it"},
		"/auth show A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6":        {"That looks like a key"},
		"/auth disable openai:me@a-long-mail-name.example.1": {"There is no credential"},
	} {
		t.Run(text, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				h.keyed()
				h.post(channels.Inbound{Text: text, Authorized: true})
				h.settle()
				h.wantTold(says...)
				if strings.Contains(h.told(), key) {
					t.Error("the answer repeats the key")
				}
				rows, err := h.db.Unended(context.Background())
				if err != nil || len(rows) != 0 {
					t.Errorf("unended: %v, %v", rows, err)
				}
				for _, secret := range []string{key, "shortkey", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6"} {
					if names := filesWith(t, h.dir, secret); names != nil {
						t.Errorf("%s is kept in %v", secret, names)
					}
				}
			})
		})
	}
}

var _ bot.Keyring = ring{}
