package console

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/channels"
)

// stage is a console on a paper terminal inside a synctest bubble: the test is
// the person (types), the bot (answers) and the clock (passes).
type stage struct {
	*testing.T
	c     *Console
	paper *paper
	keys  *io.PipeWriter
	heard []channels.Inbound
	done  chan error
	sends int
	leave context.CancelFunc
	full  error // what the store says to a message
}

var here = channels.Address{Channel: Name, Conversation: Conversation}

// perform runs the scene on a terminal of that size.
func perform(t *testing.T, width, height int, adapt func(*Options), scene func(*stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		in, keys := io.Pipe()
		s := &stage{T: t, paper: newPaper(width, height), keys: keys, done: make(chan error, 1)}
		o := Options{
			In: in, Out: s.paper, Terminal: true, NoColor: true,
			Width:  func() int { return s.paper.width },
			Height: func() int { return s.paper.height },
		}
		if adapt != nil {
			adapt(&o)
		}
		s.c = New(o)
		ctx, cancel := context.WithCancel(t.Context())
		s.leave = cancel
		go func() {
			s.done <- s.c.Run(ctx, func(_ context.Context, in channels.Inbound) error {
				s.heard = append(s.heard, in)
				return s.full
			})
		}()
		synctest.Wait()
		scene(s)
		cancel()
		_ = keys.Close()
		synctest.Wait()
		for _, f := range s.paper.faults {
			t.Error("terminal:", f)
		}
	})
}

func (s *stage) types(keys string) {
	_, _ = io.WriteString(s.keys, keys)
	synctest.Wait()
}

func (s *stage) answers(k channels.Kind, text string) {
	s.Helper()
	s.sends++
	out := channels.Outbound{ID: fmt.Sprint("d", s.sends), To: here, Kind: k, Text: text}
	if _, err := s.c.Send(s.Context(), out); err != nil {
		s.Error(err)
	}
}

func (s *stage) passes(d time.Duration) { time.Sleep(d); synctest.Wait() }

// sees compares all that stands on the terminal, the cursor as ▏.
func (s *stage) sees(want string) {
	s.Helper()
	want = strings.TrimPrefix(want, "\n")
	if got := s.paper.text(false, true); got != want {
		s.Errorf("the terminal shows\n%s\nwant\n%s", got, want)
	}
}

func (s *stage) said() []string {
	var all []string
	for _, in := range s.heard {
		all = append(all, in.Text)
	}
	return all
}
