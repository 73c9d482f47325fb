package fallback

import "time"

// Source says who wrote a stored selection.
type Source string

// The sources. A stored model with no source and no origin is a legacy row
// and counts as the user's [M9].
const (
	NoSource Source = ""
	Auto     Source = "auto"
	ByUser   Source = "user"
)

// Selection is the stored override of one session: the fields that fallback
// owns and nothing else [M3, D7]. The zero value is a free session.
type Selection struct {
	Model  Model  // providerOverride, modelOverride
	Source Source // modelOverrideSource
	Origin Model  // modelOverrideFallbackOrigin{Provider,Model}
	Pin    Pin    // authProfileOverride*
	Told   Told   // fallbackNotice*
	// Pending is the live-switch flag; only a user's change sets it [M30].
	Pending bool
	// Since is when the model fields last changed; for people, never compared.
	Since time.Time
}

// Pin is the credential a session keeps to [M18].
type Pin struct {
	Profile ProfileID
	Source  Source
	// Compactions is the session's compaction count when an automatic pin was
	// made; -1 when none was stored.
	Compactions int
}

// Told is the pair the room was last told of. The zero value: nothing told.
type Told struct {
	Selected, Active Model
	Reason           string
}

// IsAuto tells whether the row is a fallback's own: marked auto, or without a
// source but with its origin kept (recovered auto, failover.md 3.1).
func (s Selection) IsAuto() bool {
	return !s.Model.IsZero() && (s.Source == Auto || s.Source == NoSource) && s.Origin.complete()
}

// Kind says what started a run.
type Kind string

// The kinds of runs.
const (
	Chat       Kind = "chat"
	Cron       Kind = "cron"
	Heartbeat  Kind = "heartbeat"
	Compaction Kind = "compaction"
	ProbeRun   Kind = "probe"
)

// Why tells where the model of a plan came from.
type Why string

// The origins of a plan's model.
const (
	FromDefault   Why = "default"   // agents.defaults.model [M4]
	FromAgent     Why = "agent"     // agents.list[].model [M5]
	FromAuto      Why = "auto"      // a fallback's stored choice [M6]
	FromUser      Why = "user"      // /model, picker, session_status, sessions.patch [M8]
	FromLegacy    Why = "legacy"    // stored without a source [M9]
	FromCron      Why = "cron"      // payload.model [M10]
	FromHeartbeat Why = "heartbeat" // heartbeat.model
	FromOneOff    Why = "one-off"   // command line flags [M10]
	FromChannel   Why = "channel"   // channels.modelByChannel [T4]
)

// Plan is the decided selection of one run.
type Plan struct {
	Requested Model // candidate 0
	Selected  Model // what notices call "selected": the origin of an automatic override, else Requested
	Primary   Model // the effective configured primary of this session
	Why       Why
	Strict    bool
	// Fallbacks is the list that follows Requested. Explicit says that it was
	// passed (even empty), so that the configured primary is not appended [M27].
	Fallbacks []Model
	Explicit  bool
	Pin       Pin // the user's or the session's profile, for its own provider only
	// Probe says that this turn looks at the primary again: Requested is the
	// origin, Current, the stored fallback, stands second [M11, D13b].
	Probe   bool
	Current Model
	// Clear says that the stored selection is stale and is removed before the
	// run; ClearWhy names the rule and Cleared the model that it held. Told is
	// kept: the next visible turn says once that the fallback is over [D11].
	Clear    bool
	ClearWhy ClearWhy
	Cleared  Model
	// Invalid says, for people, why the stored choice cannot be asked at all. It
	// stays the user's choice: the run fails with this text [IL-060]. "" is the
	// normal case.
	Invalid string
	// Persist says that a fallback may write its choice down (chat runs of a
	// session whose row is free or automatic) [M2, I6].
	Persist bool
}

// ClearWhy names the rule that makes a stored selection stale.
type ClearWhy string

// The rules.
const (
	// ClearNoOrigin: marked auto, but nobody knows what it stands in for [T6].
	ClearNoOrigin ClearWhy = "no_origin"
	// ClearOffChain: the fallback is in no list of today's config [IL-028].
	ClearOffChain ClearWhy = "off_chain"
	// ClearOrigin: a heartbeat found that the origin is not the primary any more [M7].
	ClearOrigin ClearWhy = "origin_changed"
	// ClearNotPermitted: the user's model has left the allowlist; the user is told [T7].
	ClearNotPermitted ClearWhy = "not_permitted"
)

// ByPerson tells whether the user chose the profile: it is then the only one of
// its provider that may be used until a new session [M18, D3]. A pin without a
// source is the user's unless a compaction count was stored with it, which only
// an automatic pin has (failover.md 9.5).
func (p Pin) ByPerson() bool {
	return p.Profile != "" && (p.Source == ByUser || p.Source == NoSource && p.Compactions < 0)
}

// Announces tells whether an answer under this plan says something about the
// session's own selection. A run with a model of its own does not, whatever
// the room was told of before [M10, H18].
func (p Plan) Announces() bool {
	switch p.Why {
	case FromCron, FromHeartbeat, FromOneOff:
		return false
	}
	return true
}
