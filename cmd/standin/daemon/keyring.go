package daemon

import (
	"context"
	"slices"

	"standin/fallback"
	"standin/store"
)

// keyring is the credentials as /auth works on them: the stored ones with those
// that the current config names. It implements bot.Keyring.
type keyring struct{ liveCredentials }

// Providers gives the providers of both.
func (k keyring) Providers(ctx context.Context, a fallback.AgentID) ([]string, error) {
	names, err := k.now().Providers(ctx, a)
	for _, p := range k.a.current.Load().Profiles {
		names = append(names, p.Provider)
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

func (k keyring) Order(ctx context.Context, a fallback.AgentID, provider string) ([]fallback.ProfileID, fallback.AgentID, bool, error) {
	return k.now().Order(ctx, a, provider)
}

func (k keyring) SetOrder(ctx context.Context, a fallback.AgentID, provider string, ids []fallback.ProfileID, d fallback.Deed) error {
	return k.told(k.now().SetOrder(ctx, a, provider, ids, d), d, fallback.DeedOrder, provider)
}

func (k keyring) Clear(ctx context.Context, a fallback.AgentID, p fallback.ProfileID, d fallback.Deed) (fallback.Usage, bool, error) {
	was, known, err := k.now().Clear(ctx, a, p, d)
	return was, known, k.told(err, d, fallback.DeedClear, string(p))
}

func (k keyring) Switch(ctx context.Context, a fallback.AgentID, p fallback.ProfileID, off bool, d fallback.Deed) (changed, known bool, err error) {
	changed, known, err = k.now().Switch(ctx, a, p, off, d)
	what := fallback.DeedEnable
	if off {
		what = fallback.DeedDisable
	}
	return changed, known, k.told(err, d, what, string(p))
}

func (k keyring) Note(ctx context.Context, a fallback.AgentID, d fallback.Deed) error {
	return k.told(k.now().Note(ctx, a, d), d, d.What, string(d.Profile))
}

func (k keyring) Deeds(ctx context.Context, a fallback.AgentID, p fallback.ProfileID, limit int) ([]fallback.Deed, error) {
	want := store.DeedFilter{Profile: p, Limit: limit}
	if p != "" {
		want.Provider = p.Provider()
	}
	return k.now().Deeds(ctx, a, want)
}

func (k keyring) Pins(ctx context.Context) (map[fallback.ProfileID][]fallback.Pinned, error) {
	return k.a.DB.Pins(ctx)
}

// told logs what somebody did, once it is written, and passes the error on.
func (k keyring) told(err error, d fallback.Deed, what fallback.DeedKind, about string) error {
	if err == nil {
		k.a.parts.Log.Info("credentials changed by hand", "what", what, "about", about, "who", d.Who, "via", d.Via)
	}
	return err
}
