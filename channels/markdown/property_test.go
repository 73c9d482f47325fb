package markdown

import (
	"strings"
	"testing"
	"unicode"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

// document draws Markdown of blocks that models write: prose, lists, quotes,
// fences of all kinds, some of them cut off, signs of many scripts.
func document() *rapid.Generator[string] {
	word := rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z]{1,12}`),
		rapid.SampledFrom([]string{"`a b`", "**bold text**", "[link](http://x.y/z)", "日本語。", "中文，文字", "👨‍👩‍👧", "é", "…", "3.", "-", "#", "|"}),
		rapid.StringMatching(`[a-z/:.]{30,90}`),
	)
	prose := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 1, 40).Draw(t, "words"), " ")
	})
	code := rapid.Custom(func(t *rapid.T) string {
		return rapid.StringMatching("[ \t]{0,6}[a-z{}();`~ ]{0,60}").Draw(t, "code")
	})
	fence := rapid.Custom(func(t *rapid.T) string {
		marker := rapid.SampledFrom([]string{"```", "````", "~~~", "~~~~~"}).Draw(t, "marker")
		info := rapid.SampledFrom([]string{"", "go", " js title=\"a b\"", strings.Repeat("i", 40)}).Draw(t, "info")
		lines := []string{marker + info}
		lines = append(lines, rapid.SliceOfN(code, 0, 30).Draw(t, "lines")...)
		prefix := rapid.SampledFrom([]string{"", "", "> ", "  ", "> > "}).Draw(t, "prefix")
		if strings.HasPrefix(prefix, ">") || rapid.IntRange(0, 9).Draw(t, "closed") > 0 {
			lines = append(lines, marker) // a quote that ends would end its open fence as well
		}
		return prefix + strings.Join(lines, "\n"+prefix)
	})
	list := rapid.Custom(func(t *rapid.T) string {
		mark := rapid.SampledFrom([]string{"- ", "* ", "1. ", "> "}).Draw(t, "mark")
		return mark + strings.Join(rapid.SliceOfN(prose, 1, 6).Draw(t, "items"), "\n"+mark)
	})
	block := rapid.OneOf(prose, list, fence, fence, rapid.Just("# Heading"), rapid.Just("\n\n"))
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(block, 0, 8).Draw(t, "blocks"), rapid.SampledFrom([]string{"\n\n", "\n"}).Draw(t, "gap"))
	})
}

func limits() *rapid.Generator[Limit] {
	return rapid.Custom(func(t *rapid.T) Limit {
		l := Limit{Max: rapid.IntRange(1, 400).Draw(t, "max"), Count: UTF16}
		if rapid.Bool().Draw(t, "lined") {
			l.Lines = rapid.IntRange(1, 20).Draw(t, "lines")
		}
		return l
	})
}

// Nothing is lost and nothing is added but fences and quote marks, whatever the limit.
func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, limit := document().Draw(t, "text"), limits().Draw(t, "limit")
		wantWhole(t, text, limit)
	})
}

// Each message is within the limit; only one code point may be larger than it.
func TestEachMessageIsWithinTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, limit := document().Draw(t, "text"), limits().Draw(t, "limit")
		wantWithin(t, text, limit)
	})
}

// Code stays code and text stays text: what stands in fences, over all
// messages, is what stood in fences, and every fence is closed.
func TestCodeStaysCode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := document().Draw(t, "text")
		limit := Limit{Max: rapid.IntRange(90, 400).Draw(t, "max"), Count: UTF16}
		var got strings.Builder
		for i, m := range Split(text, limit) {
			p := survey(m)
			got.WriteString(codeIn(p))
			if n := len(p.lines); n > 1 && p.lines[n-2].role == content {
				t.Errorf("message %d leaves a fence open: %q", i, m)
			}
		}
		if want := codeIn(survey(text)); squeeze(got.String()) != squeeze(want) {
			t.Errorf("code was %q, is %q, in %q", want, got.String(), Split(text, limit))
		}
	})
}

// A cut never goes through a grapheme where one fits into a message.
func TestGraphemesStayWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sign := rapid.SampledFrom([]string{"a", "é", "👨‍👩‍👧", "🇩🇪", "👍🏽", "한", "q̣̇"})
		text := strings.Join(rapid.SliceOfN(sign, 1, 200).Draw(t, "signs"), "")
		var got []string
		for _, m := range Split(text, Limit{Max: rapid.IntRange(12, 60).Draw(t, "max"), Count: UTF16}) {
			got = append(got, signs(m)...)
		}
		if want := signs(text); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("graphemes %q, want %q", got, want)
		}
	})
}

// Good places never make many messages: a plain text takes at most three times
// as many as it needs.
func TestFewMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,10}[.,]?[ \n]{1,2}`), 1, 400).Draw(t, "words")
		text := strings.TrimSpace(strings.Join(words, ""))
		limit := Limit{Max: rapid.IntRange(40, 400).Draw(t, "max")}
		if got, need := len(Split(text, limit)), Runes(text)/limit.Max+1; got > 3*need {
			t.Errorf("%d messages for %d", got, need)
		}
	})
}

// FuzzSplit holds the two promises that no input may break.
func FuzzSplit(f *testing.F) {
	f.Add("```go\nfunc main() {}\n```", 12, 0)
	f.Add("> - ~~~ x\n> a\n\n1. ```\n", 9, 3)
	f.Add("\xff\xfe```\r\n\r\n\x00", 1, 1)
	f.Add(strings.Repeat("`", 50)+" "+strings.Repeat("a", 50), 20, 2)
	f.Fuzz(func(t *testing.T, text string, size, lines int) {
		limit := Limit{Max: size % 500, Count: UTF16, Lines: lines % 50}
		if len(text) > 1<<13 {
			return
		}
		wantWhole(t, text, limit)
		if limit.Max > 0 {
			wantWithin(t, text, limit)
		}
	})
}

// failer is what *testing.T and *rapid.T have in common.
type failer interface{ Errorf(string, ...any) }

func wantWhole(t failer, text string, l Limit) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	var got strings.Builder
	for _, p := range pieces(text, l) {
		got.WriteString(p.body + p.closer)
		for _, added := range []string{p.head, p.tail} {
			if s := strings.Trim(added, ">`~ \n"); s != "" && !strings.Contains(text, s) {
				t.Errorf("%q was added", added)
			}
		}
	}
	if squeeze(got.String()) != squeeze(text) {
		t.Errorf("limit %d, %d: was %q, is %q", l.Max, l.Lines, text, got.String())
	}
}

func wantWithin(t failer, text string, l Limit) {
	for _, m := range Split(text, l) {
		if n := l.Count(m); n > l.Max && Runes(m) > 1 {
			t.Errorf("%d units of %d: %q", n, l.Max, m)
		}
		if n := strings.Count(m, "\n") + 1; l.Lines > 0 && n > max(l.Lines, 3) {
			t.Errorf("%d lines of %d: %q", n, l.Lines, m)
		}
		if strings.TrimSpace(m) == "" {
			t.Errorf("a blank message")
		}
	}
}

// squeeze drops blanks, which may be lost at a cut.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

func codeIn(p plan) string {
	var code strings.Builder
	for _, l := range p.lines {
		if l.role == content {
			s := p.source[l.start:l.end]
			for range strings.Count(l.fence.quote, ">") {
				s = strings.TrimPrefix(strings.TrimLeft(s, " "), ">")
			}
			code.WriteString(s + "\n")
		}
	}
	return code.String()
}

func signs(s string) []string {
	var all []string
	for g := uniseg.NewGraphemes(s); g.Next(); {
		all = append(all, g.Str())
	}
	return all
}
