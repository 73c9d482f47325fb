package fallback

import "strings"

// A number in prose means nothing [D13, V3]. It is an HTTP status only when it
// is stated: at the start of the text, or after a word that introduces one.

var (
	// statusWords introduce a status; a blank, colon, = or # may follow.
	statusWords = fieldSet("http https status statuscode code error errorcode httperror http/1 http/2")
	// answerWords introduce one too ("got a 402", "responded with 503").
	answerWords = fieldSet("got returned returns received responded responds replied response answered")
	// wrapperWords may stand before a status at the start of a text.
	wrapperWords = fieldSet("http https status statuscode code error api apierror llm request failed with response 1 2 0")
	// countedThings follow a number that is a count.
	countedThings = fieldSet("rows row records record items item entries results files messages tokens users times bytes ms " +
		"seconds minutes requests pages matches hits lines jobs rooms room tasks points words characters")
)

// stated tells whether HTTP status n is stated anywhere in t.
func (t *text) stated(n int) bool {
	digits := [3]byte{byte('0' + n/100), byte('0' + n/10%10), byte('0' + n%10)}
	if !t.has(hash(string(digits[:]))) {
		return false
	}
	for i := range t.words {
		if t.status(i) == n && (t.introduced(i) || t.words[i].before == glueLine && !t.counts(i)) {
			return true
		}
	}
	return false
}

// leading is the status a text begins with, 0 when none; marked tells that a
// word introduced it (HTTP 402) and rest where the text goes on. JSON does not
// begin with a status: its code fields are many things.
func (t *text) leading() (n int, marked bool, rest int) {
	if len(t.lines) == 0 || t.lines[0].json {
		return 0, false, 0
	}
	for i := range t.words {
		if n := t.status(i); n != 0 {
			if i == 0 && t.counts(i) {
				return 0, false, 0
			}
			return n, i > 0 && t.introduced(i), i + 1
		}
		if t.words[i].line > 0 || !wrapperWords[t.word(i)] {
			break
		}
	}
	return 0, false, 0
}

// status is word i as an HTTP error status, 0 when it is none or part of an id
// (CHE-402, gpt-429-x, req_429).
func (t *text) status(i int) int {
	w := t.words[i]
	if w.end-w.start != 3 {
		return 0
	}
	n := 0
	for _, c := range []byte(t.lower[w.start:w.end]) {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	if n < 400 || n > 599 {
		return 0
	}
	if w.start > 0 && strings.IndexByte("-_./$", t.lower[w.start-1]) >= 0 {
		return 0
	}
	if int(w.end) < len(t.lower) {
		if c := t.lower[w.end]; c == '_' || c == '%' || (c == '-' || c == '.' || c == ',' || c == '/') && i+1 < len(t.words) && t.words[i+1].start == w.end+1 {
			return 0
		}
	}
	return n
}

// introduced tells whether a word before number i says that it is a status.
func (t *text) introduced(i int) bool {
	for back := i - 1; back >= 0 && back >= i-3; back-- {
		if t.words[back+1].before >= glueBreak {
			return false
		}
		switch word := t.word(back); {
		case statusWords[word]:
			return true
		case answerWords[word]:
			return !t.counts(i)
		case word == "a" || word == "an" || word == "with" || word == "of" || word == "is" || word == "was" || word == "1" || word == "2" || word == "0":
		default:
			return false
		}
	}
	return false
}

// counts tells whether number i counts what follows it.
func (t *text) counts(i int) bool {
	return i+1 < len(t.words) && t.words[i+1].before < glueColon && countedThings[t.word(i+1)]
}
