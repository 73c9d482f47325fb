package rehearsal

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"standin/cmd/standin/config"
	"standin/fallback"
)

// scene is a step of the script with what happens in the middle of its turn.
type scene struct {
	line   int
	at     time.Duration
	act    deed
	during []aside
}

// aside is an act during the n-th attempt of the scene's turn.
type aside struct {
	attempt int
	act     deed
}

// deed is something that is done to the daemon.
type deed struct {
	actKeys
	config *config.Compiled // of reload
}

// turn tells whether the act starts a turn, or may.
func (a deed) turn() bool { return a.Say != nil || a.Heartbeat != "" || a.Cron != nil }

// session is the session that the act concerns; "" when none in particular.
func (a deed) session() fallback.SessionID {
	key := ""
	switch {
	case a.Say != nil:
		key = a.actKeys.Session
		if key == "" {
			key = "agent:main:main"
		}
	case a.Heartbeat != "":
		key = "agent:" + a.Heartbeat + ":main"
	case a.Cron != nil:
		key = a.Cron.session()
	case a.Patch != nil:
		key = a.Patch.Session
	default:
		key = a.Reset + a.Compact
	}
	return fallback.SessionID(key)
}

// session is the key of the job's own session.
func (c *cronKeys) session() string {
	return "agent:" + c.Agent + ":cron:" + strings.ToLower(strings.Join(strings.Fields(c.job()), "-"))
}

// job is the name of the job, one for those that have none.
func (c *cronKeys) job() string {
	if c.Name == "" {
		return "job"
	}
	return c.Name
}

// readSteps reads the script: steps in time order, and what happens during a
// turn with the step that starts it.
func (s *scriptReader) readSteps(r *rehearsal) {
	var waiting []aside
	var waitingAt config.Path
	var last time.Duration
	for i, k := range s.keys.Script {
		p := config.Path{"script", i}
		n, _ := s.root.At(p)
		at := time.Duration(k.At)
		if at < last {
			s.report(p.Key("at"), fmt.Sprintf("stands behind a step at %s", short(last)), "steps stand in the order of time")
		}
		last = max(last, at)
		if k.During != nil {
			s.checkAct(k.actKeys, p, true)
			s.checkAct(k.During.Do, p.Key("during").Key("do"), false)
			if len(waiting) == 0 {
				waitingAt = p.Key("during")
			}
			waiting = append(waiting, aside{k.During.Attempt, deed{actKeys: k.During.Do}})
			continue
		}
		s.checkAct(k.actKeys, p, false)
		sc := &scene{line: n.Line, at: at, act: deed{actKeys: k.actKeys}}
		if len(waiting) > 0 && sc.act.turn() {
			sc.during, waiting = waiting, nil
		}
		r.steps = append(r.steps, sc)
	}
	if len(waiting) > 0 {
		s.reportKey(waitingAt, "no step behind it starts a turn", "put it before the say, heartbeat or cron whose turn is meant")
	}
}

// checkAct sees to it that an act is one act, with nothing that belongs to
// another. beside says that it stands beside a during, which is the act.
func (s *scriptReader) checkAct(a actKeys, p config.Path, beside bool) {
	var acts []string
	add := func(given bool, name string) {
		if given {
			acts = append(acts, name)
		}
	}
	add(beside, "during")
	add(a.Say != nil, "say")
	add(a.Heartbeat != "", "heartbeat")
	add(a.Cron != nil, "cron")
	add(a.Reset != "", "reset")
	add(a.Patch != nil, "patch")
	add(a.Compact != "", "compact")
	add(a.Restart, "restart")
	add(a.Reload.given(), "reload")
	add(a.Room != nil && a.Room.Kind == "", "room")
	add(a.Abort != "", "abort")
	known := "say, heartbeat, cron, reset, patch, compact, restart, reload, room, abort or during"
	switch len(acts) {
	case 1:
	case 0:
		if slices.ContainsFunc(s.faults, func(f config.Fault) bool { return strings.HasPrefix(f.Path, p.String()+".") }) {
			return // what it was to do was faulty, and that was told
		}
		s.report(p, "does nothing", "give it one of "+known)
		return
	default:
		s.reportKey(p.Key(acts[1]), "is a second act", "make it a step of its own behind "+acts[0])
		return
	}
	if n, _ := s.root.At(p.Key("patch").Key("model")); a.Patch != nil && n.Kind != config.Text && n.Kind != config.Empty {
		s.report(p.Key("patch").Key("model"), "wants a model or null, found "+string(n.Kind), "")
	}
	if acts[0] == "say" {
		return
	}
	for _, one := range []struct {
		key   string
		given bool
	}{{"session", a.Session != ""}, {"from", a.From != ""}, {"thread", a.Thread != ""}, {"replyToMode", a.ReplyToMode != ""},
		{"room", acts[0] != "room" && a.Room != nil}} {
		if one.given {
			s.reportKey(p.Key(one.key), "belongs to say", "this step is "+acts[0])
		}
	}
}

// modelName finds provider/model in a command.
var modelName = regexp.MustCompile(`(?:^|\s)([A-Za-z0-9][\w.-]*)/[^\s/]`)

// commandWithModel is a message that may choose a model.
var commandWithModel = regexp.MustCompile(`(?i)^\s*/(model|new|reset)\b`)

// providers collects every provider that a model of the script belongs to: none
// of them needs an entry in models.providers (R2).
func (r *rehearsal) providers() []string {
	seen := map[string]bool{}
	ref := func(text string) {
		if m, _ := fallback.ParseRef(text); m.Provider != "" && m.Provider != "*" {
			seen[m.Provider] = true
		}
	}
	for _, p := range r.profiles {
		seen[fallback.NormalProvider(p.Provider)] = true
		seen[fallback.ProfileID(p.ID).Provider()] = true
	}
	for _, row := range r.sessions {
		seen[fallback.NormalProvider(row.Provider)] = true
		seen[fallback.NormalProvider(row.OriginProvider)] = true
		ref(row.ToldSelected)
		ref(row.ToldActive)
	}
	for _, v := range r.rules {
		ref(v.model)
	}
	for _, sc := range r.steps {
		sc.act.models(ref)
		for _, d := range sc.during {
			d.act.models(ref)
		}
	}
	delete(seen, "")
	return slices.Sorted(maps.Keys(seen))
}

// models hands each model that the act names to see.
func (a deed) models(see func(string)) {
	switch {
	case a.Say != nil && commandWithModel.MatchString(*a.Say):
		for _, m := range modelName.FindAllStringSubmatch(*a.Say, -1) {
			see(m[1] + "/x")
		}
	case a.Cron != nil:
		see(a.Cron.Model)
		if a.Cron.Fallbacks != nil {
			for _, f := range *a.Cron.Fallbacks {
				see(f)
			}
		}
	case a.Patch != nil:
		see(a.Patch.model())
	}
}
