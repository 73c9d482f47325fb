package openclaw

import (
	"fmt"
	"slices"
	"strings"

	"standin/cmd/standin/config"
)

// modernise brings older shapes to the names of today, and what both programs
// name alike but mean differently out of the way.
func (d *Draft) modernise() {
	r := d.root
	r.take("$schema")
	for _, name := range []string{"slack", "discord"} {
		d.move([]string{name}, []string{"channels", name})
	}
	d.move([]string{"agent"}, []string{"agents", "defaults"})
	d.move([]string{"routing", "groupChat"}, []string{"messages", "groupChat"})
	d.move([]string{"routing", "queue"}, []string{"messages", "queue"})
	d.move([]string{"routing", "bindings"}, []string{"bindings"})
	if v := r.get("routing"); v != nil && v.form == object && len(v.members) == 0 {
		r.take("routing")
	}
	d.agents()
	d.channels()
	d.auth()
	d.codex()
	d.triggers()
	for _, key := range []string{"profiles", "order"} {
		if v := d.root.get("auth", key); v != nil && v.form == object && len(v.members) == 0 {
			d.root.get("auth").take(key)
		}
	}
	d.prune()
	if env := r.take("env"); env != nil {
		d.variables(env)
	}
	if r.take("gateway") != nil {
		d.note(config.Path{"gateway"}, "is OpenClaw's own address", "standin listens only for health checks and for Slack in mode http; gateway.port says where")
	}
}

// move lays what stands at from under what stands at to.
func (d *Draft) move(from, to []string) {
	parent := d.root.get(from[:len(from)-1]...)
	if len(from) == 1 {
		parent = d.root
	}
	if parent == nil || parent.form != object {
		return
	}
	moved := parent.take(from[len(from)-1])
	if moved == nil {
		return
	}
	target := d.root.at(to[:len(to)-1]...)
	if target == nil {
		return
	}
	target.set(to[len(to)-1], merge(moved, target.get(to[len(to)-1])))
}

// agents makes a list of a map of agents, and an agent's name of its identity.
func (d *Draft) agents() {
	if entries := d.root.get("agents", "entries"); entries != nil && entries.form == object {
		d.root.get("agents").take("entries")
		l := &value{form: list}
		for _, m := range entries.members {
			if m.value.form == object && m.value.get("id") == nil {
				m.value.members = append([]member{{"id", textOf(m.key)}}, m.value.members...)
			}
			l.items = append(l.items, m.value)
		}
		d.root.get("agents").set("list", merge(d.root.get("agents", "list"), l))
	}
	name := func(agent, identity *value) {
		if n := identity.get("name"); n != nil && agent.get("name") == nil {
			agent.set("name", n)
		}
	}
	all := d.root.get("agents", "list")
	if all != nil && all.form == list {
		for _, a := range all.items {
			if id := a.get("identity"); id != nil && id.form == object {
				name(a, id)
				id.take("name")
				if len(id.members) == 0 {
					a.take("identity")
				}
			}
		}
	}
	if id := d.root.get("identity"); id != nil && id.form == object && (all == nil || len(all.items) == 0) {
		if id.get("name") == nil {
			return
		}
		only := &value{form: object}
		only.set("id", textOf("main"))
		name(only, id)
		if agents := d.root.at("agents"); agents != nil {
			agents.set("list", &value{form: list, items: []*value{only}})
		}
		id.take("name")
		if len(id.members) == 0 {
			d.root.take("identity")
		}
	}
}

// channels brings the accounts of both platforms to the names of today.
func (d *Draft) channels() {
	for _, name := range []string{"slack", "discord"} {
		platform := d.root.get("channels", name)
		if platform == nil || platform.form != object {
			continue
		}
		layers := []*value{platform}
		if accounts := platform.get("accounts"); accounts != nil {
			for _, m := range accounts.members {
				layers = append(layers, m.value)
			}
		}
		for _, v := range layers {
			people(v)
			rooms(v.get("channels"))
			if guilds := v.get("guilds"); guilds != nil {
				for _, m := range guilds.members {
					idTexts(m.value)
					rooms(m.value.get("channels"))
				}
			}
		}
	}
}

// people brings who may write directly from dm to its own keys.
func people(v *value) {
	idTexts(v)
	dm := v.get("dm")
	if dm == nil || dm.form != object {
		return
	}
	for _, key := range []struct{ from, to string }{{"policy", "dmPolicy"}, {"allowFrom", "allowFrom"}} {
		if got := dm.take(key.from); got != nil && v.get(key.to) == nil {
			v.set(key.to, got)
		}
	}
	if on := dm.take("enabled"); on != nil && on.text == "false" {
		v.set("dmPolicy", textOf("disabled"))
	}
	if len(dm.members) == 0 {
		v.take("dm")
	}
	idTexts(v)
}

// rooms brings allow to enabled.
func rooms(v *value) {
	if v == nil || v.form != object {
		return
	}
	for _, m := range v.members {
		if allow := m.value.get("allow"); allow != nil && allow.form == truth {
			m.value.take("allow")
			if m.value.get("enabled") == nil {
				m.value.set("enabled", allow)
			}
		}
		idTexts(m.value)
	}
}

// idTexts makes texts of ids that were written as numbers, digit by digit: they
// are larger than numbers are exact.
func idTexts(v *value) {
	for _, key := range []string{"allowFrom", "users", "roles"} {
		l := v.get(key)
		if l == nil || l.form != list {
			continue
		}
		for _, item := range l.items {
			if item.form == number {
				item.form = text
			}
		}
	}
}

// auth takes out the profiles of a vendor that is not spoken to here.
func (d *Draft) auth() {
	profiles := d.root.get("auth", "profiles")
	if profiles == nil || profiles.form != object {
		return
	}
	for _, m := range slices.Clone(profiles.members) {
		p := config.Path{"auth", "profiles", m.key}
		if mode := m.value.get("mode"); mode != nil && mode.text == "aws-sdk" {
			profiles.take(m.key)
			d.note(p, "is a login of AWS, which standin does not use", "")
		}
	}
}

// codex brings the retired provider openai-codex to openai, whose credentials
// and models it shares [M19].
func (d *Draft) codex() {
	const old, today = "openai-codex/", "openai/"
	d.root.each(nil, func(p config.Path, v *value) bool {
		if v.form == text && strings.HasPrefix(v.text, old) {
			v.text = today + strings.TrimPrefix(v.text, old)
		}
		if len(p) == 3 && p[0] == "agents" && p[2] == "models" && v.form == object {
			for i, m := range v.members {
				if strings.HasPrefix(m.key, old) {
					v.members[i].key = today + strings.TrimPrefix(m.key, old)
				}
			}
		}
		return true
	})
	order := d.root.get("auth", "order")
	mixed := false
	var ids []string
	for _, key := range []string{"openai-codex", "openai"} {
		l := order.get(key)
		if l == nil || l.form != list {
			continue
		}
		for _, item := range l.items {
			mixed = mixed || strings.HasPrefix(item.text, "openai-codex:")
			ids = append(ids, item.text)
		}
	}
	if mixed {
		order.take("openai-codex")
		order.take("openai")
		d.note(config.Path{"auth", "order", "openai"}, "names logins of openai-codex, which the store keeps in order",
			fmt.Sprintf("standin auth order set openai %s", strings.Join(ids, " ")))
	}
	if profiles := d.root.get("auth", "profiles"); profiles != nil && profiles.form == object {
		// Metadata alone: the stored login says what it is.
		profiles.members = slices.DeleteFunc(profiles.members, func(m member) bool { return strings.HasPrefix(m.key, "openai-codex:") })
	}
}

// triggers takes out the words that begin a new conversation anyway.
func (d *Draft) triggers() {
	l := d.root.get("session", "resetTriggers")
	if l == nil || l.form != list {
		return
	}
	l.items = slices.DeleteFunc(l.items, func(i *value) bool { return i.text == "/new" || i.text == "/reset" })
	if len(l.items) == 0 {
		d.root.get("session").take("resetTriggers")
	}
}

// variables notes the names of those that OpenClaw set by itself: their values
// belong into the environment of the service.
func (d *Draft) variables(env *value) {
	for _, m := range append(slices.Clone(env.members), env.get("vars").list()...) {
		if m.value.form == text {
			d.Variables = append(d.Variables, m.key)
		}
	}
	slices.Sort(d.Variables)
	if len(d.Variables) > 0 {
		d.note(config.Path{"env"}, "sets variables, which is the part of standin's environment: "+strings.Join(d.Variables, ", "),
			"set them where standin is started, or store keys with standin auth add")
	}
}

func (v *value) list() []member {
	if v == nil {
		return nil
	}
	return v.members
}
