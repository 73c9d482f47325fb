package fallback

import (
	"slices"
	"strings"
)

// A phrase is a wording that vendors use, written in a small language of words
// so that the tables read like the texts they stand for:
//
//	rate limit       these words in a row; blanks, _, -, / and quotes part them
//	session|thread   one of these words
//	exceed~          a word that begins so; ~timeout~ is a word that contains it
//	*                any one word
//	..               up to gapWords words of the same sentence, or none
//	!reference       the next word is not this one
//	reason: error    a colon or equals sign stands between the two
//	server_error     an underscore and nothing else stands between the two
//	^ $$             start of a line; end of a line
//	$                end of a sentence or line
//
// Words are lower-case and without apostrophes ("doesnt"); a possessive s is
// gone ("the model context window"). A phrase with a letter outside ASCII is
// looked up as it stands, blanks aside: Chinese has no word boundaries.
type phrase struct {
	source string
	parts  []part
	needs  [][]uint32 // of each of these, one has to be among the words of the text
	plain  string     // set instead of parts: found as a substring
}

// part is one step of a phrase.
type part struct {
	kind partKind
	alts []wording
	join glue // how it hangs on the word before: soft, underscored or colon
}

// wording is one alternative of a part.
type wording struct {
	word string
	fit  fit
	key  uint32 // hash of the word, or of its stem
}

// fit is how much of the text's word a wording is.
type fit byte

const (
	whole fit = iota
	beginning
	inside
)

type partKind byte

const (
	oneOf partKind = iota
	anyWord
	gap
	unless
	sentenceEnd
	lineEnd
	lineStart
)

// gapWords is how many words ".." may stand for. Model ids fall apart into
// many words (accounts/fireworks/models/x-70b-v1).
const gapWords = 12

// stem is how many letters of every word are known to a text beside the word
// itself, so that it can be asked for a beginning of at least so many.
const stem = 3

// compile reads a phrase. Tables are compiled once, when they are first asked.
func compile(source string) phrase {
	p := phrase{source: source}
	if !ascii(source) {
		p.plain = strings.ReplaceAll(source, " ", "")
		return p
	}
	join := glueSoft
	for _, field := range strings.Fields(source) {
		colon := len(field) > 1 && strings.HasSuffix(field, ":")
		field = strings.TrimSuffix(field, ":")
		for i, word := range strings.Split(field, "_") {
			if i > 0 {
				join = glueUnder
			}
			x := newPart(word, join)
			if keys := x.keys(); x.kind == oneOf && keys != nil {
				p.needs = append(p.needs, keys)
			}
			p.parts = append(p.parts, x)
			join = glueSoft
		}
		if colon {
			join = glueColon
		}
	}
	slices.SortStableFunc(p.needs, func(a, b []uint32) int { return len(a) - len(b) })
	return p
}

func newPart(word string, join glue) part {
	x := part{join: join}
	switch {
	case word == "*":
		x.kind = anyWord
		return x
	case word == "..":
		x.kind = gap
		return x
	case word == "^":
		x.kind = lineStart
		return x
	case word == "$":
		x.kind = sentenceEnd
		return x
	case word == "$$":
		x.kind = lineEnd
		return x
	case word[0] == '!':
		x.kind, word = unless, word[1:]
	}
	for _, w := range strings.Split(word, "|") {
		a := wording{word: strings.Trim(w, "~")}
		switch {
		case w[0] == '~':
			a.fit = inside
		case w[len(w)-1] == '~':
			a.fit, a.key = beginning, hash(a.word[:stem])
		default:
			a.key = hash(w)
		}
		x.alts = append(x.alts, a)
	}
	return x
}

// keys are the hashes of which a text that fits the part has one; nil when that
// cannot be told.
func (x part) keys() []uint32 {
	var keys []uint32
	for _, a := range x.alts {
		if a.fit == inside {
			return nil
		}
		keys = append(keys, a.key)
	}
	return keys
}

// in tells whether the phrase stands in t, in a line of at most longest bytes.
func (p *phrase) in(t *text, longest int) bool {
	if p.plain != "" {
		return t.squeezed != "" && len(t.squeezed) <= longest && strings.Contains(t.squeezed, p.plain)
	}
	for _, keys := range p.needs {
		if !t.hasAny(keys) {
			return false
		}
	}
	for i := range t.words {
		if t.follows(p.parts, i, hangFree) && t.lineLen(i) <= longest {
			return true
		}
	}
	return false
}

// hang says how the next word of a phrase must be joined to the one before it.
type hang byte

const (
	hangFree  hang = iota // the first word: not at all
	hangTight             // side by side
	hangLoose             // after a gap: in the same sentence
)

// follows matches parts from word i on.
func (t *text) follows(parts []part, i int, h hang) bool {
	if len(parts) == 0 {
		return true
	}
	x, rest := &parts[0], parts[1:]
	switch x.kind {
	case lineStart:
		return (i == 0 || t.words[i].before == glueLine) && t.follows(rest, i, hangFree)
	case lineEnd:
		return (i >= len(t.words) || t.words[i].before == glueLine) && t.follows(rest, i, h)
	case sentenceEnd:
		return t.ends(i) && t.follows(rest, i, h)
	case unless:
		return (t.ends(i) || !t.is(x, i)) && t.follows(rest, i, h)
	case gap:
		for n := i; n <= i+gapWords; n++ {
			if t.follows(rest, n, hangLoose) {
				return true
			}
			if t.ends(n) {
				return false
			}
		}
		return false
	}
	return i < len(t.words) && t.is(x, i) && t.joined(x, i, h) && t.follows(rest, i+1, hangTight)
}

// ends tells whether the sentence is over before word i.
func (t *text) ends(i int) bool { return i >= len(t.words) || t.words[i].before >= glueStop }

// joined tells whether word i hangs on the one before it as its part wants it.
func (t *text) joined(x *part, i int, h hang) bool {
	before := t.words[i].before
	switch {
	case h == hangFree:
		return true
	case h == hangLoose:
		return before < glueStop
	case x.join != glueSoft:
		return before == x.join
	}
	return before < glueColon
}

// is tells whether word i is what the part names.
func (t *text) is(x *part, i int) bool {
	if x.kind == anyWord {
		return true
	}
	for n := range x.alts {
		switch a := &x.alts[n]; a.fit {
		case whole:
			if t.words[i].key == a.key && t.word(i) == a.word {
				return true
			}
		case beginning:
			if strings.HasPrefix(t.word(i), a.word) {
				return true
			}
		case inside:
			if strings.Contains(t.word(i), a.word) {
				return true
			}
		}
	}
	return false
}

// hash is FNV-1a over the bytes of a word; never 0.
func hash(word string) uint32 {
	h := uint32(2166136261)
	for i := 0; i < len(word); i++ {
		h = (h ^ uint32(word[i])) * 16777619
	}
	return h | 1
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
