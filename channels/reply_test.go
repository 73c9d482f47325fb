package channels

import (
	"slices"
	"testing"
)

// The reply slot is one per turn, for assistant content; a notice leaves it
// free and keeps its own reference [M14, N25–N28; slot-04].
func TestPlace(t *testing.T) {
	notice, reply := Outbound{Kind: Notice, ReplyTo: "m"}, Outbound{Kind: Reply, ReplyTo: "m"}
	loose := Outbound{Kind: Reply}
	for _, c := range []struct {
		name  string
		mode  ReplyMode
		batch bool
		posts []Outbound
		want  []string
	}{
		{"off refers to nothing, a notice included", ReplyOff, false, []Outbound{notice, reply}, []string{"", ""}},
		{"first: the notice and the first answer, not the second", ReplyFirst, false, []Outbound{notice, reply, reply}, []string{"m", "m", ""}},
		{"first: a late notice still keeps its reference", ReplyFirst, false, []Outbound{reply, notice, reply}, []string{"m", "m", ""}},
		{"first: a post without a reference uses nothing", ReplyFirst, false, []Outbound{loose, reply}, []string{"", "m"}},
		{"all: each", ReplyAll, false, []Outbound{notice, reply, reply}, []string{"m", "m", "m"}},
		{"batched: a single message is not referred to", ReplyBatched, false, []Outbound{notice, reply}, []string{"", ""}},
		{"batched: a debounced batch is, once", ReplyBatched, true, []Outbound{notice, reply, reply}, []string{"m", "m", ""}},
		{"no mode is off", "", false, []Outbound{reply}, []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, p := range Place(c.mode, c.batch, c.posts) {
				got = append(got, p.ReplyTo)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("references %q, want %q", got, c.want)
			}
		})
	}
}
