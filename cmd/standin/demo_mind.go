package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"standin/fallback/provider"
)

// thread is what a staged model is to answer: the last thing that was said to it,
// and what its tools have given back since.
type thread struct {
	question string
	place    int // of the question in the conversation
	results  []provider.ToolResult
}

func readThread(talk []provider.Message) (t thread) {
	for i, m := range talk {
		if m.Role == provider.User && len(m.Results) == 0 {
			t = thread{question: strings.TrimSpace(systemLines.ReplaceAllString(m.Text, "")), place: i}
		}
		t.results = append(t.results, m.Results...)
	}
	return t
}

// key tells one turn's question from the next one's.
func (t thread) key() string { return fmt.Sprint(t.place, ":", t.question) }

// given is what the n-th use of a tool gave back, "" before that.
func (t thread) given(n int) string {
	if n >= len(t.results) {
		return ""
	}
	return strings.TrimSpace(t.results[n].Text)
}

// systemLines are what the agent is told beside what the person wrote.
var systemLines = regexp.MustCompile(`(?m)^System: .*\n`)

// What the staged models understand, in the order in which they look for it. A job
// comes first: its message may have any of the other words in it.
var (
	jobDue     = regexp.MustCompile(`(?s)^\[cron:\S+ [^\]]*\] (.*?)\n\nCurrent time: (.*)$`)
	askTime    = regexp.MustCompile(`(?i)\b(what('s| is)? the (time|date)|what time|which day|what day)\b`)
	remindIn   = regexp.MustCompile(`(?i)^(?:please )?remind me (?:in|after) (an?|\d+) ?(s|m|h|d|sec|min|second|minute|hour|day)s?\b,? ?(?:to|of|about|that)? ?(.*)$`)
	remindLate = regexp.MustCompile(`(?i)^(?:please )?remind me (?:to|of|about|that) (.*?) (?:in|after) (an?|\d+) ?(s|m|h|d|sec|min|second|minute|hour|day)s?[.!]?$`)
	remind     = regexp.MustCompile(`(?i)\bremind me\b`)
	recall     = regexp.MustCompile(`(?i)\b(?:do you (?:remember|know)|what do you (?:remember|know)|recall)(?: about)?(?: my| the)? ?(.*?)[?.!]*$`)
	remember   = regexp.MustCompile(`(?i)^(?:please )?(?:remember|note|keep in mind)(?: that)? (.+)$`)
)

// mind is the next thing that a staged model does about the question: it calls a
// tool, or says something; neither, when no tool has to do with it.
func (t thread) mind() (*provider.ToolCall, string) {
	switch q := t.question; {
	case jobDue.MatchString(q):
		return nil, "⏰ " + jobDue.FindStringSubmatch(q)[1]
	case askTime.MatchString(q):
		return t.tellTime()
	case remindIn.MatchString(q):
		m := remindIn.FindStringSubmatch(q)
		return t.makeReminder(m[1], m[2], m[3])
	case remindLate.MatchString(q):
		m := remindLate.FindStringSubmatch(q)
		return t.makeReminder(m[2], m[3], m[1])
	case remind.MatchString(q):
		return nil, "When, and of what? For example: remind me in 5m to drink my tea"
	case recall.MatchString(q):
		return t.lookUp(recall.FindStringSubmatch(q)[1])
	case remember.MatchString(q):
		return t.keep(remember.FindStringSubmatch(q)[1])
	}
	return nil, ""
}

func use(tool string, input any) (*provider.ToolCall, string) {
	text, _ := json.Marshal(input) // of strings
	return &provider.ToolCall{Name: tool, Input: string(text)}, ""
}

func (t thread) tellTime() (*provider.ToolCall, string) {
	if t.given(0) == "" {
		return use("session_status", struct{}{})
	}
	now, _, _ := strings.Cut(strings.TrimPrefix(t.given(0), "Now: "), "\n")
	return nil, "I looked at the clock (session_status): it is " + now + "."
}

// makeReminder makes a job of a reminder.
func (t thread) makeReminder(n, unit, of string) (*provider.ToolCall, string) {
	if strings.HasPrefix(strings.ToLower(n), "a") {
		n = "1"
	}
	of = strings.TrimRight(strings.TrimSpace(of), ".!")
	if of == "" {
		of = "what you wanted"
	}
	if t.given(0) == "" {
		return use("cron", map[string]string{"action": "add", "name": of, "message": "You wanted to be reminded: " + of, "at": n + strings.ToLower(unit[:1])})
	}
	if t.results[0].Failed || !strings.HasPrefix(t.given(0), "Added") {
		return nil, "I could not make the reminder (cron): " + t.given(0)
	}
	when := ""
	if _, next, found := strings.Cut(t.given(0), "It runs next:\n"); found {
		when, _, _ = strings.Cut(strings.TrimSpace(next), "\n")
	}
	return nil, fmt.Sprintf("I will remind you of “%s” on %s (cron). /cron list shows it, and /skip %s%s lets the time pass.", of, when, n, strings.ToLower(unit[:1]))
}

// keep writes something down behind what stands in MEMORY.md already.
func (t thread) keep(what string) (*provider.ToolCall, string) {
	switch len(t.results) {
	case 0:
		return use("read", map[string]string{"path": "MEMORY.md"})
	case 1:
		note := "- " + strings.TrimRight(what, ".!")
		if !t.results[0].Failed && strings.HasPrefix(t.given(0), "- ") {
			note = t.given(0) + "\n" + note
		}
		return use("write", map[string]string{"path": "MEMORY.md", "text": note + "\n"})
	}
	if t.results[1].Failed {
		return nil, "I could not write it down: " + t.given(1)
	}
	return nil, fmt.Sprintf("Noted: %s. It stands in MEMORY.md of my workspace (read, write).", strings.TrimRight(what, ".!"))
}

// lookUp looks something up in what was written down.
func (t thread) lookUp(what string) (*provider.ToolCall, string) {
	if what = strings.TrimSpace(what); what == "" {
		what = "my"
	}
	if t.given(0) == "" {
		return use("memory_search", map[string]string{"query": what})
	}
	if t.results[0].Failed || !strings.Contains(t.given(0), "\n") {
		return nil, "I looked (memory_search), but " + t.given(0) + "."
	}
	_, found, _ := strings.Cut(t.given(0), "\n")
	return nil, "I looked it up (memory_search):\n" + found
}
