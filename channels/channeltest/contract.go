package channeltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"standin/channels"
)

// Means is what a promise needs a rig or its adapter to be able to do.
type Means string

// The means that not every surface has.
const (
	Saying   Means = "saying"   // Rig.Say
	Failing  Means = "failing"  // Rig.Fail
	Drafting Means = "drafting" // the adapter is a channels.Drafter
	Filing   Means = "filing"   // Rig.Files
)

// has tells whether the rig has the means.
func (r Rig) has(m Means) bool {
	switch m {
	case Saying:
		return r.Say != nil
	case Failing:
		return r.Fail != nil
	case Filing:
		return r.Files != nil
	}
	_, ok := r.Channel.(channels.Drafter)
	return ok
}

// Rig is one adapter with its platform under the test's hand. Channel, To and
// Seen are required, the others unless Contract is told that they are lacking.
type Rig struct {
	Channel channels.Channel
	To      channels.Address // a conversation that Send may use
	// Seen gives all that stands in the conversation now, as a person reads it,
	// joined by newlines in the order it was posted.
	Seen func() string
	// Say makes the platform hand a message from an allowed person in a direct
	// chat to the adapter. The same n is the same platform message again.
	Say func(n int, text string)
	// Fail makes the next send end so; posted says whether it stands in the
	// conversation all the same (with Unknown).
	Fail func(o channels.Outcome, posted bool)
	// Files gives the files that stand in the conversation now, each as "name:
	// content", in the order they were posted.
	Files func() []string
	// Limit is the platform's largest message, in its own units; 0 is none.
	Limit int
	// Secrets must be in no error.
	Secrets []string
}

// patience is the most a promise may take, for adapters on real sockets.
const patience = 10 * time.Second

// Contract runs the promises that every adapter keeps. start makes a fresh rig;
// it is not running yet. without names the means that this surface cannot have,
// whose promises it does not make; any other that is missing is a fault.
func Contract(t *testing.T, start func(t *testing.T) Rig, without ...Means) {
	t.Helper()
	for _, p := range promises {
		if p.needs != "" && slices.Contains(without, p.needs) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			r := start(t)
			if p.needs != "" && !r.has(p.needs) {
				t.Fatalf("the rig has no means of %s", p.needs)
			}
			p.keep(ctx, t, r)
		})
	}
}

var promises = []struct {
	name  string
	needs Means
	keep  func(context.Context, *testing.T, Rig)
}{
	{"its name is the channel part of its addresses", "", func(_ context.Context, t *testing.T, r Rig) {
		if r.Channel.Name() != r.To.Channel {
			t.Errorf("name %q, address %q", r.Channel.Name(), r.To.Channel)
		}
	}},
	{"Run ends when its context ends", "", func(ctx context.Context, t *testing.T, r Rig) {
		l := listen(ctx, t, r, nil)
		if err := l.stop(); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("Run gave %v", err)
		}
	}},
	{"what is said is handed over complete and in order", Saying, handsOver},
	{"a message that was not accepted can be handed over again under its ID", Saying, redelivers},
	{"a message is posted once and has a platform id", "", postsOnce},
	{"a delivery id that was posted is not posted again", "", func(ctx context.Context, t *testing.T, r Rig) {
		listen(ctx, t, r, nil)
		out := r.out("d1", channels.Reply, "said-once")
		first := r.mustPost(ctx, t, out)
		if again := r.mustPost(ctx, t, out); again != first {
			t.Errorf("receipts %v and %v", first, again)
		}
		r.wantCount(t, "said-once", 1)
	}},
	{"a notice is posted before the answer, its text untouched", "", func(ctx context.Context, t *testing.T, r Rig) {
		listen(ctx, t, r, nil)
		notice := "↪️ Model Fallback: b/two (selected a/one; rate limit)"
		r.mustPost(ctx, t, r.out("d1", channels.Notice, notice))
		r.mustPost(ctx, t, r.out("d2", channels.Reply, "the-answer"))
		seen := r.Seen()
		n, a := strings.Index(seen, notice), strings.Index(seen, "the-answer")
		if n < 0 || a < n {
			t.Errorf("notice at %d, answer at %d in %q", n, a, seen)
		}
	}},
	{"a long answer arrives whole and in order", "", arrivesWhole},
	{"an ambiguous send is posted once after the look", Failing, ambiguous},
	{"a send that certainly failed can be tried again", Failing, func(ctx context.Context, t *testing.T, r Rig) {
		listen(ctx, t, r, nil)
		out := r.out("d1", channels.Reply, "try-again")
		r.Fail(channels.NotSent, false)
		r.wantOutcome(ctx, t, out, channels.NotSent)
		r.wantCount(t, "try-again", 0)
		r.mustPost(ctx, t, out)
		r.wantCount(t, "try-again", 1)
	}},
	{"a refusal says so and leaks no token", Failing, func(ctx context.Context, t *testing.T, r Rig) {
		listen(ctx, t, r, nil)
		r.Fail(channels.Refused, false)
		r.wantOutcome(ctx, t, r.out("d1", channels.Reply, "unwanted"), channels.Refused)
		r.wantCount(t, "unwanted", 0)
	}},
	{"an empty message is refused", "", func(ctx context.Context, t *testing.T, r Rig) {
		listen(ctx, t, r, nil)
		r.wantOutcome(ctx, t, r.out("d1", channels.Reply, ""), channels.Refused)
	}},
	{"a send whose context has ended is not sent", "", func(ctx context.Context, t *testing.T, r Rig) {
		listen(ctx, t, r, nil)
		over, cancel := context.WithCancel(ctx)
		cancel()
		r.wantOutcome(over, t, r.out("d1", channels.Reply, "too-late"), channels.NotSent)
		r.wantCount(t, "too-late", 0)
	}},
	{"files arrive with their text, once", Filing, filesArrive},
	{"a file may come without a text, and under a name that is none", Filing, func(ctx context.Context, t *testing.T, r Rig) {
		listen(ctx, t, r, nil)
		out := r.out("d1", channels.Reply, "")
		out.Files = []channels.File{TextFile("../../etc/pass\nwd", "alone")}
		r.mustPost(ctx, t, out)
		if got := r.Files(); len(got) != 1 || !strings.HasSuffix(got[0], ": alone") || strings.ContainsAny(got[0], "/\\\n") {
			t.Errorf("there is %q", got)
		}
	}},
	{"a file that cannot be had is told of, and the text comes", Filing, func(ctx context.Context, t *testing.T, r Rig) {
		listen(ctx, t, r, nil)
		out := r.out("d1", channels.Reply, "see-here")
		out.Files = []channels.File{{Name: "gone.txt", Open: func(context.Context) (io.ReadCloser, error) { return nil, errors.New("it was deleted") }}}
		r.mustPost(ctx, t, out)
		if got := r.Files(); len(got) != 0 {
			t.Errorf("there is %q", got)
		}
		for _, word := range []string{"see-here", "gone.txt", "it was deleted"} {
			r.wantCount(t, word, 1)
		}
	}},
	{"a draft leaves no trace beside the final text", Drafting, func(ctx context.Context, t *testing.T, r Rig) {
		d := r.Channel.(channels.Drafter)
		listen(ctx, t, r, nil)
		draft := d.Draft(ctx, r.To, "", nil)
		draft.Working()
		draft.Show("wrong-start")
		draft.Discard()
		draft.Show("right")
		draft.Show("right-text")
		draft.Close()
		r.mustPost(ctx, t, r.out("d1", channels.Reply, "right-text"))
		r.wantCount(t, "wrong-start", 0)
		r.wantCount(t, "right-text", 1)
	}},
	{"a closed draft that is taken back goes, and is no part of what comes later", Drafting, func(ctx context.Context, t *testing.T, r Rig) {
		d := r.Channel.(channels.Drafter)
		listen(ctx, t, r, nil)
		draft := d.Draft(ctx, r.To, "", nil)
		draft.Show("overtaken")
		draft.Close()
		draft.Discard()
		r.mustPost(ctx, t, r.out("d1", channels.Reply, "something-else"))
		if t, ok := r.Channel.(interface{ Tidy(context.Context) }); ok {
			t.Tidy(ctx) // it goes by itself, but in its own time
		}
		r.wantCount(t, "overtaken", 0)
		r.wantCount(t, "something-else", 1)
	}},
}

func handsOver(ctx context.Context, t *testing.T, r Rig) {
	l := listen(ctx, t, r, nil)
	ids := map[string]bool{}
	for i := range 3 {
		text := fmt.Sprintf("word %d", i)
		r.Say(i, text)
		in := l.next(ctx, t)
		if in.Text != text || in.ID == "" || ids[in.ID] {
			t.Errorf("message %d: %+v", i, in)
		}
		ids[in.ID] = true
		if in.To.Channel != r.To.Channel || in.To.Conversation == "" || in.From.ID == "" || in.At.IsZero() {
			t.Errorf("message %d lacks where, who or when: %+v", i, in)
		}
		if in.Chat != channels.Direct || !in.Mentioned {
			t.Errorf("message %d of a direct chat is not addressed to the agent: %+v", i, in)
		}
	}
}

func redelivers(ctx context.Context, t *testing.T, r Rig) {
	fail := errors.New("the store is full")
	l := listen(ctx, t, r, func(channels.Inbound) error { e := fail; fail = nil; return e })
	r.Say(1, "again please")
	first := l.next(ctx, t)
	r.Say(1, "again please")
	if second := l.next(ctx, t); second.Text != first.Text {
		t.Errorf("%+v, then %+v", first, second)
	}
}

func postsOnce(ctx context.Context, t *testing.T, r Rig) {
	listen(ctx, t, r, nil)
	for i, k := range []channels.Kind{channels.Reply, channels.Failure, channels.Command} {
		text := "text-of-" + string(k)
		if rc := r.mustPost(ctx, t, r.out(fmt.Sprint("d", i), k, text)); rc.MessageID == "" {
			t.Errorf("%s: no platform id", k)
		}
		r.wantCount(t, text, 1)
	}
}

func arrivesWhole(ctx context.Context, t *testing.T, r Rig) {
	listen(ctx, t, r, nil)
	var text strings.Builder
	for i := 0; text.Len() <= max(3*r.Limit, 2000); i++ {
		fmt.Fprintf(&text, "w%05d ", i)
	}
	r.mustPost(ctx, t, r.out("d1", channels.Reply, text.String()))
	seen, at := r.Seen(), 0
	for _, w := range strings.Fields(text.String()) {
		i := strings.Index(seen[at:], w)
		if i < 0 {
			t.Fatalf("%s is missing or out of order", w)
		}
		at += i + len(w)
	}
	r.wantCount(t, "w00000", 1)
}

func filesArrive(ctx context.Context, t *testing.T, r Rig) {
	listen(ctx, t, r, nil)
	out := r.out("d1", channels.Reply, "see-here")
	out.Files = []channels.File{TextFile("one.txt", "first"), TextFile("two.txt", "second")}
	first := r.mustPost(ctx, t, out)
	if again := r.mustPost(ctx, t, out); again != first || first.MessageID == "" {
		t.Errorf("receipts %v and %v", first, again)
	}
	if got, want := r.Files(), []string{"one.txt: first", "two.txt: second"}; !slices.Equal(got, want) {
		t.Errorf("there is %q, want %q", got, want)
	}
	r.wantCount(t, "see-here", 1)
}

// TextFile is a file that goes out.
func TextFile(name, content string) channels.File {
	return channels.File{Name: name, Type: "text/plain", Size: int64(len(content)), Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

func ambiguous(ctx context.Context, t *testing.T, r Rig) {
	f, ok := r.Channel.(channels.Finder)
	if !ok {
		t.Fatal("an adapter whose sends can be ambiguous must be able to look")
	}
	listen(ctx, t, r, nil)
	for i, posted := range []bool{true, false} {
		text := fmt.Sprint("perhaps-", posted)
		out := r.out(fmt.Sprint("d", i), channels.Reply, text)
		r.Fail(channels.Unknown, posted)
		r.wantOutcome(ctx, t, out, channels.Unknown)
		rc, found, err := f.Find(ctx, out)
		if err != nil || found != posted || found && rc.MessageID == "" {
			t.Fatalf("posted %v: Find gave %v %v %v", posted, rc, found, err)
		}
		if !found {
			r.mustPost(ctx, t, out)
		}
		r.wantCount(t, text, 1)
	}
}

func (r Rig) out(id string, k channels.Kind, text string) channels.Outbound {
	return channels.Outbound{ID: id, To: r.To, Kind: k, Text: text}
}

func (r Rig) mustPost(ctx context.Context, t *testing.T, out channels.Outbound) channels.Receipt {
	t.Helper()
	rc, err := r.Channel.Send(ctx, out)
	if err != nil {
		t.Fatalf("send %s: %v", out.ID, err)
	}
	return rc
}

func (r Rig) wantOutcome(ctx context.Context, t *testing.T, out channels.Outbound, want channels.Outcome) {
	t.Helper()
	_, err := r.Channel.Send(ctx, out)
	if got := channels.OutcomeOf(err); got != want {
		t.Errorf("send %s gave %q (%v), want %q", out.ID, got, err, want)
	}
	for _, s := range r.Secrets {
		if err != nil && strings.Contains(err.Error(), s) {
			t.Errorf("the error tells a secret")
		}
	}
}

func (r Rig) wantCount(t *testing.T, text string, want int) {
	t.Helper()
	if seen := r.Seen(); strings.Count(seen, text) != want {
		t.Errorf("%q stands there %d times, want %d:\n%s", text, strings.Count(seen, text), want, seen)
	}
}

// listener is a running channel and what it has handed over.
type listener struct {
	in   chan channels.Inbound
	stop func() error
}

func (l listener) next(ctx context.Context, t *testing.T) channels.Inbound {
	t.Helper()
	select {
	case in := <-l.in:
		return in
	case <-ctx.Done():
		t.Fatal("nothing was handed over")
		return channels.Inbound{}
	}
}

// listen runs the channel until the test ends; judge, if any, answers for the
// store.
func listen(ctx context.Context, t *testing.T, r Rig, judge func(channels.Inbound) error) listener {
	t.Helper()
	l := listener{in: make(chan channels.Inbound, 16)}
	runCtx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		done <- r.Channel.Run(runCtx, func(_ context.Context, in channels.Inbound) error {
			l.in <- in
			if judge != nil {
				return judge(in)
			}
			return nil
		})
	}()
	stopped := false
	var result error
	l.stop = func() error {
		if cancel(); stopped {
			return result
		}
		stopped = true
		select {
		case result = <-done:
		case <-time.After(patience):
			result = errors.New("Run goes on after its context ended")
		}
		return result
	}
	t.Cleanup(func() { _ = l.stop() })
	return l
}
