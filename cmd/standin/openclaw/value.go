// Package openclaw turns an openclaw.json into a config of ours. The file is
// read as OpenClaw reads it (JSON5, $include), older shapes are brought to the
// names of today, and the reader of our own config judges the result: a key that
// it does not know is left out and told, so that nothing is lost unseen and the
// two cannot grow apart (config-ops.md G1, G4, G5).
//
// Variables stay variables, ${NAME} means the same on both sides. Secrets that
// stand in the file as plain text are handed to the caller and are no part of
// the config that is written [M15].
package openclaw

import (
	"slices"

	"standin/cmd/standin/config"
)

// form is what a value is.
type form byte

const (
	object form = 'o'
	list   form = 'l'
	text   form = 's'
	number form = 'n'
	truth  form = 'b'
	empty  form = '0'
)

// value is a value of the file; objects keep the order of their keys.
type value struct {
	form    form
	text    string // of a scalar: a text, a number's digits, true or false
	members []member
	items   []*value
}

type member struct {
	key   string
	value *value
}

func textOf(s string) *value { return &value{form: text, text: s} }

// get gives the value of a key, nil when there is none.
func (v *value) get(keys ...string) *value {
	for _, key := range keys {
		if v == nil || v.form != object {
			return nil
		}
		i := slices.IndexFunc(v.members, func(m member) bool { return m.key == key })
		if i < 0 {
			return nil
		}
		v = v.members[i].value
	}
	return v
}

// set gives a key its value; a new key stands last.
func (v *value) set(key string, to *value) {
	for i := range v.members {
		if v.members[i].key == key {
			v.members[i].value = to
			return
		}
	}
	v.members = append(v.members, member{key, to})
}

// take removes a key and gives its value, nil when there was none.
func (v *value) take(key string) *value {
	got := v.get(key)
	if got != nil {
		v.members = slices.DeleteFunc(v.members, func(m member) bool { return m.key == key })
	}
	return got
}

// at gives the object at a path of keys and makes what is missing on the way;
// nil when something else stands there.
func (v *value) at(keys ...string) *value {
	for _, key := range keys {
		next := v.get(key)
		if next == nil {
			next = &value{form: object}
			v.set(key, next)
		}
		if next.form != object {
			return nil
		}
		v = next
	}
	return v
}

// each hands every value below v and its path to do, parents first, until do
// says that it has seen enough of a branch.
func (v *value) each(p config.Path, do func(p config.Path, v *value) (deeper bool)) {
	if !do(p, v) {
		return
	}
	for _, m := range slices.Clone(v.members) {
		m.value.each(p.Key(m.key), do)
	}
	for i, item := range slices.Clone(v.items) {
		item.each(p.Item(i), do)
	}
}

// drop removes the values that gone names, and gives what is left of v.
func (v *value) drop(gone map[*value]bool) {
	v.members = slices.DeleteFunc(v.members, func(m member) bool { return gone[m.value] })
	v.items = slices.DeleteFunc(v.items, func(i *value) bool { return gone[i] })
	for _, m := range v.members {
		m.value.drop(gone)
	}
	for _, i := range v.items {
		i.drop(gone)
	}
}
