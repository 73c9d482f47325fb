package cronjobs

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"standin/bot/netguard"
	"standin/fallback"
	"standin/fallback/provider"
)

// Fault is something wrong with a job as it was written. Its text is fit for
// people: the field, what is wrong, what to do.
type Fault struct{ Field, Wrong, Mend string }

func (f *Fault) Error() string {
	s := strings.TrimSpace(f.Field + " " + f.Wrong)
	if f.Mend != "" {
		s += "; " + f.Mend
	}
	return s
}

func fault(field, wrong, mend string) error { return &Fault{field, wrong, mend} }

// Rules is what a job is checked against.
type Rules struct {
	Fallback *fallback.Config // agents, models, the allowlist
	Home     *time.Location   // of expressions without a zone [R15]
	Channels []string         // that a delivery may name; nil: any
	Hosts    []string         // cron.webhookAllowHosts
	AnyModel bool             // no config is known: models, agents and hosts are not checked
}

// furthest is how far ahead a one-shot job may lie, and latest how far back [R14].
const (
	furthest = 10 * 365 * 24 * time.Hour
	latest   = time.Minute
)

// Check tells all that is wrong with a job, joined; nil: nothing. isNew asks of
// a one-shot job that its time has not passed.
func (r Rules) Check(j Job, isNew bool, now time.Time) error {
	var faults []error
	add := func(err error) {
		if err != nil {
			faults = append(faults, err)
		}
	}
	if strings.TrimSpace(j.Name) == "" {
		add(fault("name", "is empty", "give the job a name that you will recognise"))
	}
	agent := j.Agent
	if agent == "" {
		agent = r.Fallback.DefaultAgent
	} else if !r.knows(agent) {
		add(fault("agentId", fmt.Sprintf("%q is no agent of the config", agent), "name one of agents.list, or leave it out for "+string(r.Fallback.DefaultAgent)))
	}
	add(r.schedule(j, isNew, now))
	for _, err := range checkTarget(j, agent == r.Fallback.DefaultAgent) {
		add(err)
	}
	for _, err := range r.payload(j.Payload) {
		add(err)
	}
	for _, err := range r.delivery(j) {
		add(err)
	}
	return errors.Join(faults...)
}

func (r Rules) knows(a fallback.AgentID) bool {
	if a == r.Fallback.DefaultAgent || r.AnyModel {
		return true
	}
	_, known := r.Fallback.Agents[a]
	return known
}

func (r Rules) schedule(j Job, isNew bool, now time.Time) error {
	t, err := j.ready(r.Home)
	if err != nil {
		return err
	}
	switch s := j.Schedule; {
	case s.StaggerMs != nil && s.Kind != KindCron:
		return fault("schedule.staggerMs", "is for cron expressions only", "leave it out")
	case s.StaggerMs != nil && *s.StaggerMs < 0:
		return fault("schedule.staggerMs", "is below zero", "give milliseconds, 0 for the exact time")
	case s.Kind == KindAt && isNew && now.Sub(t.at) > latest:
		return fault("schedule.at", fmt.Sprintf("was %s ago", round(now.Sub(t.at))), "give a time to come; for one run now use standin cron run")
	case s.Kind == KindAt && t.at.Sub(now) > furthest:
		return fault("schedule.at", "is more than ten years away", "look at the year")
	}
	return nil
}

func checkTarget(j Job, isDefault bool) (faults []error) {
	name, custom := strings.CutPrefix(string(j.Target), "session:")
	switch {
	case j.Target == Main:
		if j.Payload.Kind != SystemEvent {
			faults = append(faults, fault("sessionTarget", "main takes a system event, not an agent's turn", `use payload.kind "systemEvent" (--system-event), or another target such as isolated`))
		}
		if !isDefault {
			faults = append(faults, fault("sessionTarget", "main is for the default agent only", "use isolated"))
		}
		return faults
	case j.Target == Isolated, j.Target == Current:
	case custom && name == "":
		faults = append(faults, fault("sessionTarget", "names no session", "write session:<name>"))
	case custom && strings.ContainsAny(name, `/\`):
		faults = append(faults, fault("sessionTarget", fmt.Sprintf("%q holds a path separator", name), "use a name without / and \\"))
	case custom:
	default:
		return append(faults, fault("sessionTarget", fmt.Sprintf("is %q", j.Target), "use main, isolated, current or session:<name>"))
	}
	if j.Payload.Kind == SystemEvent {
		faults = append(faults, fault("payload.kind", fmt.Sprintf("systemEvent is for the target main, not for %s", j.Target), `use "agentTurn" with a message (--message), or the target main`))
	}
	return faults
}

func (r Rules) payload(p Payload) (faults []error) {
	add := func(field, wrong, mend string) { faults = append(faults, fault("payload."+field, wrong, mend)) }
	switch p.Kind {
	case SystemEvent:
		if strings.TrimSpace(p.Text) == "" {
			add("text", "is empty", "write what the agent is to hear")
		}
		if p.Message != "" || p.Model != "" || p.Fallbacks != nil {
			add("kind", "is systemEvent, which has a text and no message or model", "move them, or make it an agentTurn")
		}
		return faults
	case AgentTurn:
		if strings.TrimSpace(p.Message) == "" {
			add("message", "is empty", "write what the agent is to do")
		}
		if p.Text != "" {
			add("text", "is for a systemEvent", "write it as message")
		}
	default:
		add("kind", fmt.Sprintf("is %q", p.Kind), `use "agentTurn" or "systemEvent"`)
		return faults
	}
	if p.Model != "" && !r.AnyModel {
		if _, err := r.model(p.Model); err != nil {
			add("model", err.Error(), "")
		}
	}
	if p.Fallbacks != nil && !r.AnyModel {
		for i, ref := range *p.Fallbacks { // the allowlist is not asked [R36]
			if _, _, err := r.Fallback.ResolveRef(ref); err != nil {
				add(fmt.Sprintf("fallbacks[%d]", i), err.Error(), "")
			}
		}
	}
	if _, known := provider.ParseEffort(p.Thinking); p.Thinking != "" && !known {
		add("thinking", fmt.Sprintf("is %q", p.Thinking), "use off, minimal, low, medium, high, xhigh or max")
	}
	if p.MaxCostPerDay < 0 {
		add("maxCostPerDay", "is below zero", "give US dollars, or leave it out for no bound")
	}
	return faults
}

// model finds what a reference names, and refuses what people may not choose:
// nothing takes its place [R34].
func (r Rules) model(ref string) (fallback.Model, error) {
	m, profile, err := r.Fallback.ResolveRef(ref)
	if err != nil {
		return m, err
	}
	if profile != "" {
		return m, fmt.Errorf("%q names a credential; a job names a model alone", ref)
	}
	if !r.Fallback.Permits(m) {
		return m, fmt.Errorf("%q is not among the models that may be chosen (agents.defaults.models: %s); add it there, or name one of them", m, allowed(r.Fallback))
	}
	return m, nil
}

func allowed(c *fallback.Config) string {
	var names []string
	for _, m := range c.Allowed {
		names = append(names, m.String())
	}
	return strings.Join(names, ", ")
}

func (r Rules) delivery(j Job) (faults []error) {
	if d := j.Delivery; d != nil {
		switch {
		case d.Mode == Announce && j.Target == Main:
			faults = append(faults, fault("delivery.mode", "announce is not for the target main, whose answer is the agent's own", "leave it out, or use isolated"))
		default:
			faults = append(faults, r.place("delivery", d.Place)...)
		}
		if to := d.Completion; to != nil && to.Mode != Webhook {
			faults = append(faults, fault("delivery.completionDestination.mode", fmt.Sprintf("is %q", to.Mode), "it is a webhook: give mode webhook and its URL"))
		} else if to != nil {
			faults = append(faults, r.place("delivery.completionDestination", *to)...)
		}
		if to := d.Destination; to != nil {
			if j.Target == Main && to.Mode != Webhook {
				faults = append(faults, fault("delivery.failureDestination", "of a job of the main session must be a webhook", "give mode webhook and its URL"))
			} else {
				faults = append(faults, r.place("delivery.failureDestination", *to)...)
			}
		}
	}
	if a := j.FailureAlert; a != nil && !a.Off {
		if a.After != nil && *a.After < 1 {
			faults = append(faults, fault("failureAlert.after", "is below 1", "give the number of failures in a row, or false for no alerts"))
		}
		if a.Mode != "" || a.Channel != "" || a.To != "" {
			faults = append(faults, r.place("failureAlert", a.Place)...)
		}
	}
	return faults
}

func (r Rules) place(field string, p Place) (faults []error) {
	add := func(sub, wrong, mend string) { faults = append(faults, fault(field+"."+sub, wrong, mend)) }
	switch p.Mode {
	case Webhook:
		u, err := url.Parse(p.To)
		if p.To == "" || err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			add("to", fmt.Sprintf("%q is no http(s) URL", p.To), "a webhook needs one, such as https://example.org/hook")
		} else if !r.AnyModel && inHouse(u) && !netguard.Lists(r.Hosts, u.Host) {
			add("to", fmt.Sprintf("leads into the house (%s), which webhooks may not", u.Host), "if that is meant, put the host into cron.webhookAllowHosts")
		}
	case Announce, "":
		named := p.Channel != "" && p.Channel != Last
		switch {
		case named && r.Channels != nil && !contains(r.Channels, p.Channel):
			add("channel", fmt.Sprintf("%q is no channel", p.Channel), "use "+strings.Join(r.Channels, ", ")+" or last")
		case named && p.To == "" && p.Channel != "console":
			add("to", "is missing", "say where on "+p.Channel+": channel:<id> or user:<id>")
		case !named && p.To != "":
			add("channel", "is missing", "name the channel that "+p.To+" is on")
		}
	case None:
	default:
		add("mode", fmt.Sprintf("is %q", p.Mode), "use announce, webhook or none")
	}
	return faults
}

// inHouse tells whether a URL names an address of this machine or of its network
// outright. Where a name leads is only known when it is called, and looked at
// then [R55].
func inHouse(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	ip, err := netip.ParseAddr(host)
	return err == nil && netguard.InHouse(ip) || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

func contains(list []string, s string) bool {
	for _, one := range list {
		if one == s {
			return true
		}
	}
	return false
}

// zoned is a time that says its own zone.
var zoned = regexp.MustCompile(`([zZ]|[+-]\d\d:?\d\d)$`)

// ParseMoment reads the time of a one-shot job: ISO with its zone, ISO without
// (in the given zone, else UTC), or digits, which are Unix milliseconds [R14].
func ParseMoment(s, zone string) (time.Time, error) {
	s = strings.TrimSpace(s)
	refuse := func(why string) (time.Time, error) {
		return time.Time{}, fault("schedule.at", fmt.Sprintf("%q %s", s, why), "write it like 2026-12-24T18:00:00Z or 2026-12-24T18:00")
	}
	if s == "" {
		return refuse("is empty")
	}
	if ms, err := strconv.ParseInt(s, 10, 64); err == nil {
		if ms < 1e11 { // 1973 in milliseconds; seconds were meant
			return refuse("is too small for Unix milliseconds")
		}
		return time.UnixMilli(ms).UTC(), nil
	}
	where := time.UTC
	if zone != "" {
		var err error
		if where, err = loadZone(zone); err != nil {
			return time.Time{}, err
		}
	}
	iso := strings.ToUpper(strings.Replace(s, " ", "T", 1))
	if hasZone := zoned.MatchString(iso[min(len(iso), len("2006-01-02")):]); hasZone {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z0700"} {
			if t, err := time.Parse(layout, iso); err == nil {
				return t.UTC(), nil
			}
		}
		return refuse("is no time")
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		t, err := time.ParseInLocation(layout, iso, where)
		switch {
		case err != nil:
		case t.Format(layout) != iso:
			return refuse(fmt.Sprintf("does not exist in %s: the clocks jump over it", where))
		default:
			return t.UTC(), nil
		}
	}
	return refuse("is no time")
}
