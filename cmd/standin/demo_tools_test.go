package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"standin/fallback"
	"standin/fallback/provider"
	"standin/store"
)

// talk is a demo that somebody talks to.
type talk struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *loud
	seen int
	done chan error
}

func startDemo(t *testing.T, dir string) *talk {
	t.Helper()
	r, in := io.Pipe()
	d := &talk{t: t, in: in, out: &loud{}, done: make(chan error, 1)}
	w := world{ctx: t.Context(), getenv: func(string) string { return "" }, stdin: r, stdout: d.out, stderr: d.out}
	go func() { d.done <- demoCmd{State: dir}.Run(w) }()
	return d
}

// say says a line and waits until what is new holds all of the texts.
func (d *talk) say(line string, texts ...string) {
	d.t.Helper()
	if _, err := io.WriteString(d.in, line+"\n"); err != nil {
		d.t.Fatal(err)
	}
	for deadline := time.Now().Add(15 * time.Second); ; {
		fresh := d.out.String()[d.seen:]
		missing := ""
		for _, text := range texts {
			if !strings.Contains(fresh, text) {
				missing = text
			}
		}
		if missing == "" {
			d.seen += len(fresh)
			return
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("after %q this is missing: %q\nwhat was said: %s", line, missing, fresh)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (d *talk) end() {
	d.t.Helper()
	_ = d.in.Close()
	if err := <-d.done; err != nil {
		d.t.Error(err)
	}
}

// A conversation that uses several tools, breaks off in the middle once before and
// once after a tool has acted, and ends right. The record says what was done once
// more on the stand-in and what was not [I8, I10].
func TestTheDemosModelsUseTools(t *testing.T) {
	dir := t.TempDir()
	d := startDemo(t, dir)
	d.say("hello", "This is the primary")
	d.say("what time is it?", "↪️ Model Fallback", "(the stand-in) I looked at the clock (session_status): it is ") // in the middle, nothing done
	d.say("remember that my tea is green", "Noted: my tea is green")
	d.say("what do you remember about tea?", "- my tea is green")
	d.say("remind me in 5m to drink it", "I will remind you of “drink it” on ")
	d.say("/skip 5m", "5m have passed", "⏰ You wanted to be reminded: drink it")
	d.say("thanks", "↪️ Model Fallback cleared", "This is the primary again")
	d.say("/fail", "will break off in the middle")
	d.say("remind me in 1h to leave", "I had already done part of what you asked.") // in the middle, after the act
	d.say("/cron list", "leave")
	d.say("/why", "used cron, which cannot be undone: from there on no other model would be asked")
	d.say("remember my keys", "(the stand-in) Noted: my keys")
	d.end()
	if n := strings.Count(d.out.String(), "leave"); n != 1 {
		t.Errorf("the reminder was made %d times", n)
	}

	db, err := store.OpenReadOnly(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	steps, err := db.Steps(t.Context(), store.StepFilter{Session: mainSession, Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]string{}
	var order []string
	for i := len(steps) - 1; i >= 0; i-- {
		s := steps[i]
		if runs[s.Run] == "" {
			order = append(order, s.Run)
		}
		switch {
		case s.What == fallback.StepTool:
			runs[s.Run] += s.Tool.Model.Provider + " uses " + s.Tool.Name + "; "
		case s.What == fallback.StepAttempt && !s.Attempt.OK:
			runs[s.Run] += s.Attempt.Model.Provider + " fails; "
		case s.What == fallback.StepAttempt:
			runs[s.Run] += s.Attempt.Model.Provider + " speaks; "
		}
	}
	var told []string
	for _, r := range order {
		if strings.Contains(runs[r], "uses session_status") || strings.Contains(runs[r], "uses cron; staged-openai fails") {
			told = append(told, runs[r])
		}
	}
	want := []string{
		"staged-openai speaks; staged-openai uses session_status; staged-openai fails; " +
			"staged-anthropic speaks; staged-anthropic uses session_status; staged-anthropic speaks; ", // done once more
		"staged-openai speaks; staged-openai uses cron; staged-openai fails; ", // and nobody else
	}
	if strings.Join(told, "\n") != strings.Join(want, "\n") {
		t.Errorf("the record says\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
	t.Logf("the record:\n%s", strings.Join(told, "\n"))
}

// What people say in other words is understood too.
func TestTheDemosModelsUnderstandReminders(t *testing.T) {
	for said, want := range map[string]string{
		"remind me in 5m to drink it":                       `{"action":"add","at":"5m","message":"You wanted to be reminded: drink it","name":"drink it"}`,
		"Please remind me in an hour of the call.":          `{"action":"add","at":"1h","message":"You wanted to be reminded: the call","name":"the call"}`,
		"remind me to stretch in 10 minutes":                `{"action":"add","at":"10m","message":"You wanted to be reminded: stretch","name":"stretch"}`,
		"System: (now) something\n\nremind me in 2d to pay": `{"action":"add","at":"2d","message":"You wanted to be reminded: pay","name":"pay"}`,
	} {
		call, _ := readThread(asked(said)).mind()
		if call == nil || call.Name != "cron" || call.Input != want {
			t.Errorf("%q: %+v", said, call)
		}
	}
	for said, want := range map[string]string{"what's the time": "session_status", "remember I like tea": "read", "do you know my tea?": "memory_search"} {
		if call, _ := readThread(asked(said)).mind(); call == nil || call.Name != want {
			t.Errorf("%q: %+v", said, call)
		}
	}
	if call, said := readThread(asked("remind me")).mind(); call != nil || !strings.HasPrefix(said, "When, and of what?") {
		t.Errorf("%+v, %q", call, said)
	}
}

func asked(text string) []provider.Message {
	return []provider.Message{{Role: provider.User, Text: text}}
}
