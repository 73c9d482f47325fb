package fallback

import (
	"math"
	"slices"
	"strings"
	"sync"
)

// A clue looks for one kind of wording in a text and gives what it found, ""
// when nothing. The tables of rules are built from clues.
type clue func(e *facts, t *text) string

// say is the clue that any of these phrases stands in the text.
func say(phrases ...string) clue { return sayWithin(math.MaxInt, phrases) }

// briefly is say for texts of at most briefText bytes: an account's trouble is
// one sentence, a long text with such words in it is prose (failover.md 5.D,
// length guard). A JSON text is judged field by field.
func briefly(phrases ...string) clue { return sayWithin(briefText, phrases) }

const briefText = 512

func sayWithin(longest int, phrases []string) clue {
	compiled := sync.OnceValue(func() []phrase { // most runs never fail: not at start
		list := make([]phrase, len(phrases))
		for i, p := range phrases {
			list[i] = compile(p)
		}
		return list
	})
	return func(_ *facts, t *text) string {
		list := compiled()
		for i := range list {
			if list[i].in(t, longest) {
				return list[i].source
			}
		}
		return ""
	}
}

// number is the clue that one of these HTTP statuses is stated.
func number(statuses ...int) clue {
	return func(_ *facts, t *text) string {
		for _, n := range statuses {
			if t.stated(n) {
				return "HTTP " + itoa(n)
			}
		}
		return ""
	}
}

// bareNumber is the clue that one of these stands as a number of its own that
// counts nothing, introduced or not.
func bareNumber(statuses ...int) clue {
	return func(_ *facts, t *text) string {
		for i := range t.words {
			if n := t.status(i); n != 0 && slices.Contains(statuses, n) && !t.counts(i) {
				return itoa(n)
			}
		}
		return ""
	}
}

// codeSaid is a vendor's number, as a code or in words ("LLM error 1311: …").
func codeSaid(number string) clue {
	return some(code(number), say("error "+number, "code "+number, "code: "+number))
}

// all wants every clue.
func all(clues ...clue) clue {
	return func(e *facts, t *text) string {
		var found []string
		for _, c := range clues {
			w := c(e, t)
			if w == "" {
				return ""
			}
			found = append(found, w)
		}
		return strings.Join(found, " + ")
	}
}

// some wants one of the clues.
func some(clues ...clue) clue {
	return func(e *facts, t *text) string {
		for _, c := range clues {
			if w := c(e, t); w != "" {
				return w
			}
		}
		return ""
	}
}

// but is a clue that an exception takes back.
func but(c clue, exceptions ...clue) clue {
	except := some(exceptions...)
	return func(e *facts, t *text) string {
		w := c(e, t)
		if w == "" || except(e, t) != "" {
			return ""
		}
		return w
	}
}

// from is a clue for the providers whose id contains one of the names.
func from(names string, c clue) clue {
	list := strings.Fields(names)
	return func(e *facts, t *text) string {
		if !e.isFrom(list) {
			return ""
		}
		return c(e, t)
	}
}

// code is the clue that one of these machine words is the signal's code or
// type, or that of JSON in the text: the same failure has the same class,
// whichever field carries it [V5].
func code(names string) clue {
	compiled := sync.OnceValue(func() map[string]bool { return fieldSet(names) })
	return func(e *facts, t *text) string {
		set := compiled()
		for _, codes := range [2][]string{t.codes, e.typed.codes} {
			for _, c := range codes {
				if set[c] {
					return "code " + c
				}
			}
		}
		return ""
	}
}

// noBody tells that nothing but these empty words is said after a
// status, or nothing at all (failover.md 5.C.2).
func noBody(t *text) bool {
	if t.given && t.empty() {
		return false
	}
	_, _, rest := t.leading()
	var left []string
	for i := rest; i < len(t.words); i++ {
		left = append(left, t.word(i))
	}
	switch strings.Join(left, " ") {
	case "", "no body", "no body response", "no response body", "status code no body", "empty body", "empty response body":
		return true
	}
	return false
}
