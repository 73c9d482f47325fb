package console

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/channels"
)

var update = flag.Bool("update", false, "rewrite the golden transcripts")

// An evening with the agent, plain and in colour: who speaks, notices set apart
// from answers, failures that look different, a draft that grows.
func TestTranscript(t *testing.T) {
	for _, colour := range []bool{false, true} {
		name := map[bool]string{false: "plain", true: "colour"}[colour]
		t.Run(name, func(t *testing.T) {
			var acts strings.Builder
			perform(t, 48, 14, func(o *Options) { o.NoColor = !colour }, func(s *stage) {
				show := func(title string) {
					fmt.Fprintf(&acts, "== %s\n%s", title, s.paper.text(colour, true))
				}
				show("the prompt waits")
				s.types("what is a quine?\r")
				d := s.c.Draft(s.Context(), here, "", nil)
				d.Working()
				s.passes(3200 * time.Millisecond)
				show("three seconds of work")
				d.Show("A quine is a program that")
				s.types("and in Go")
				s.passes(tick)
				show("the answer grows while the next message is typed")
				d.Show("A quine is a program that prints its own source:\n\n```go\npackage main\n```\n")
				d.Close()
				s.answers(channels.Notice, "↪️ Model Fallback: b/two (selected a/one; rate limit)")
				show("the notice comes first")
				s.answers(channels.Reply, "A quine is a program that prints its own source:\n\n```go\npackage main\n```\n")
				s.types("?\r")
				s.answers(channels.Failure, "All models failed.\nTry /new.")
				s.types("/status\r")
				s.answers(channels.Command, "model   b/two\nuptime  3s")
				show("failure and command")
			})
			golden(t, filepath.Join("testdata", name+".golden"), acts.String())
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

// I8: a draft is not final; a final text stands there once.
func TestDraftIsNeverPartOfTheTranscript(t *testing.T) {
	perform(t, 50, 10, nil, func(s *stage) {
		s.types("hi\r")
		d := s.c.Draft(s.Context(), here, "", nil)
		d.Working()
		d.Show("I am the wrong model")
		s.passes(tick)
		s.sees("\nyou › hi\nstandin › I am the wrong model\n\nyou › ▏\n")
		d.Discard()
		s.passes(time.Second)
		s.sees("\nyou › hi\n⠋ standin is working · 1s · Ctrl-C stops\n\nyou › ▏\n")
		d.Show("Hello")
		s.passes(tick)
		d.Close()
		s.passes(tick)
		s.sees("\nyou › hi\nstandin › Hello\n\nyou › ▏\n") // it waits for its Send
		s.answers(channels.Reply, "Hello")
		s.passes(tick)
		s.sees("\nyou › hi\nstandin › Hello\n\nyou › ▏\n")
	})
}

func TestDraftThatNobodyMadeFinalGoes(t *testing.T) {
	perform(t, 40, 10, nil, func(s *stage) {
		d := s.c.Draft(s.Context(), here, "", nil)
		d.Show("half an ans")
		d.Close()
		d.Show("a closed draft does not change")
		s.passes(tick)
		s.sees("\nstandin › half an ans\nyou › ▏\n")
		s.passes(lingers + tick)
		s.sees("\nyou › ▏\n")
		d.Show("a closed draft shows nothing")
		s.passes(tick)
		s.sees("\nyou › ▏\n")
	})
}

// A draft longer than the screen shows its end; the final text is whole.
func TestLongDraftShowsItsEnd(t *testing.T) {
	perform(t, 30, 8, nil, func(s *stage) {
		text := ""
		for i := range 20 {
			text += fmt.Sprintf("row %d\n", i)
		}
		d := s.c.Draft(s.Context(), here, "", nil)
		d.Show(text)
		s.passes(tick)
		s.sees("\nrow 14\nrow 15\nrow 16\nrow 17\nrow 18\nrow 19\nyou › ▏\n")
		d.Close()
		s.answers(channels.Reply, text)
		s.sees("\nstandin › " + text + "\nyou › ▏\n")
	})
}

// A console where nothing happens does not wake the processor.
func TestQuietConsoleSleeps(t *testing.T) {
	var looks atomic.Int64
	count := func(o *Options) {
		width := o.Width
		o.Width = func() int { looks.Add(1); return width() }
	}
	perform(t, 40, 10, count, func(s *stage) {
		quiet := func(when string) {
			s.Helper()
			before := looks.Load()
			if s.passes(time.Minute); looks.Load() != before {
				s.Errorf("%s it looked %d times", when, looks.Load()-before)
			}
		}
		quiet("at first")
		d := s.c.Draft(s.Context(), here, "", nil)
		d.Working()
		before := looks.Load()
		if s.passes(time.Second); looks.Load() == before {
			s.Error("the spinner stands still")
		}
		d.Close()
		s.passes(lingers + tick)
		quiet("after the work")
	})
}

func TestQuickWorkShowsNoSpinner(t *testing.T) {
	perform(t, 40, 10, nil, func(s *stage) {
		s.c.Draft(s.Context(), here, "", nil).Working()
		s.passes(unseen - tick)
		s.sees("\nyou › ▏\n")
	})
}

// Prompt and typing stay intact while output arrives.
func TestTypingSurvivesOutput(t *testing.T) {
	perform(t, 20, 10, nil, func(s *stage) {
		s.types("hal\x1b[D")
		s.answers(channels.Reply, "a longer answer that wraps")
		s.sees("\nstandin › a longer\nanswer that wraps\n\nyou › ha▏l\n")
		s.types("l\x05o\r")
		if d := cmp.Diff([]string{"halol"}, s.said()); d == "" {
			t.Error("Ctrl-E did not go to the end")
		}
		if d := cmp.Diff([]string{"hallo"}, s.said()); d != "" {
			t.Error(d)
		}
	})
}

// Wide characters take two cells and rows wrap between them.
func TestWideCharactersWrapAndEdit(t *testing.T) {
	perform(t, 16, 10, nil, func(s *stage) {
		s.types("こんにちは世界")
		s.sees("\nyou › こんにち\n      は世界▏\n")
		s.types("\x1b[D\x1b[D\x1b[D\x1b[D\x7f")
		s.sees("\nyou › こん▏ちは\n      世界\n")
		s.types("👩‍👩‍👧\x01\x1b[3~")
		s.sees("\nyou › ▏ん👩‍👩‍👧ちは\n      世界\n")
		s.types("\r")
		if d := cmp.Diff([]string{"ん👩‍👩‍👧ちは世界"}, s.said()); d != "" {
			t.Error(d)
		}
	})
}

// Pasted rows are one message, and none is sent by its line ends.
func TestPasteIsOneMessage(t *testing.T) {
	perform(t, 30, 10, nil, func(s *stage) {
		s.types("\x1b[200~first\rsecond\r\nthird\x1b[201~")
		s.sees("\nyou › first\n      second\n      third▏\n")
		s.types("\r")
		if d := cmp.Diff([]string{"first\nsecond\nthird"}, s.said()); d != "" {
			t.Error(d)
		}
	})
}

// The terminal is repainted at its new width with the next key.
func TestResize(t *testing.T) {
	perform(t, 30, 10, nil, func(s *stage) {
		s.types("0123456789 123456789")
		s.paper.mu.Lock()
		s.paper.width = 60
		s.paper.mu.Unlock()
		s.types("0123456789")
		s.sees("\nyou › 0123456789 1234567890123456789▏\n")
	})
}

func TestCtrlC(t *testing.T) {
	t.Run("stops the running turn, then leaves", func(t *testing.T) {
		perform(t, 50, 10, nil, func(s *stage) {
			s.c.Draft(s.Context(), here, "", nil).Working()
			s.types("kept\x03")
			if d := cmp.Diff([]string{"/stop"}, s.said()); d != "" {
				t.Error(d)
			}
			s.sees("\nstopping; Ctrl-C again leaves\nyou › kept▏\n")
			s.types("\x03")
			s.left(nil)
			s.sees("\n▏\n")
		})
	})
	t.Run("clears the line without a turn", func(t *testing.T) {
		perform(t, 50, 10, nil, func(s *stage) {
			s.types("half\x03")
			s.sees("\nyou › ▏\n")
		})
	})
	t.Run("asks before it leaves, and forgets after two seconds", func(t *testing.T) {
		perform(t, 50, 10, nil, func(s *stage) {
			s.types("\x03")
			s.sees("\nCtrl-C again or Ctrl-D leaves\nyou › ▏\n")
			s.passes(twice + tick)
			s.sees("\nyou › ▏\n")
			s.types("\x03")
			s.sees("\nCtrl-C again or Ctrl-D leaves\nyou › ▏\n")
			s.types("\x03")
			s.left(nil)
		})
	})
}

func TestLeaving(t *testing.T) {
	t.Run("Ctrl-D on an empty line leaves", func(t *testing.T) {
		perform(t, 40, 10, nil, func(s *stage) { s.types("\x04"); s.left(nil) })
	})
	t.Run("Ctrl-D in a line deletes", func(t *testing.T) {
		perform(t, 40, 10, nil, func(s *stage) {
			s.types("ab\x01\x04")
			s.sees("\nyou › ▏b\n")
		})
	})
	t.Run("a keyboard that is gone leaves", func(t *testing.T) {
		perform(t, 40, 10, nil, func(s *stage) { _ = s.keys.Close(); s.passes(0); s.left(nil) })
	})
	t.Run("the context ends it and what comes later is still printed", func(t *testing.T) {
		perform(t, 40, 10, nil, func(s *stage) {
			s.types("unsent")
			s.leave()
			s.passes(0)
			s.left(context.Canceled)
			s.answers(channels.Reply, "late")
			s.sees("\nstandin › late\n▏\n")
		})
	})
}

func (s *stage) left(want error) {
	s.Helper()
	select {
	case err := <-s.done:
		if !errors.Is(err, want) {
			s.Errorf("Run gave %v, want %v", err, want)
		}
	default:
		s.Error("Run goes on")
	}
}

// I1: a message that is not durable was not accepted; the person is told.
func TestMessageThatCannotBeStoredIsSaid(t *testing.T) {
	perform(t, 80, 10, nil, func(s *stage) {
		s.full = errors.New("disk full")
		s.types("precious\r")
		if got := s.paper.text(false, false); !strings.Contains(got, "✗") || !strings.Contains(got, "disk full") {
			t.Error(got)
		}
		s.types("\x1b[A")
		if got := s.paper.text(false, true); !strings.HasSuffix(got, "you › precious▏\n") {
			t.Error(got)
		}
	})
}

func TestLocalCommandsAreNotHandedOn(t *testing.T) {
	local := func(line string) (string, bool) { return "moved by " + line, strings.HasPrefix(line, "/clock") }
	perform(t, 40, 10, func(o *Options) { o.Local = local }, func(s *stage) {
		s.types("/clock 5m\r")
		s.sees("\nyou › /clock 5m\nmoved by /clock 5m\n\nyou › ▏\n")
		if len(s.heard) != 0 {
			t.Error(s.said())
		}
	})
}

// What a model wrote must not steer the terminal.
func TestControlCharactersAreShownNotObeyed(t *testing.T) {
	perform(t, 60, 10, nil, func(s *stage) {
		s.answers(channels.Reply, "a\x1b]0;owned\x07b\u009bc\rd\xff\u202e")
		s.sees("\nstandin › a␛]0;owned␇b�c␍d��\n\nyou › ▏\n")
	})
}

func TestCtrlLClearsTheScreen(t *testing.T) {
	perform(t, 40, 10, nil, func(s *stage) {
		s.answers(channels.Reply, "old")
		s.types("new\x0c")
		s.sees("\nyou › new▏\n")
	})
}
