package slack

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"standin/channels/slack/slacktest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Markdown in Slack's older markup [SL24, slack-21].
func TestMrkdwn(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"the case of the rule book", "**b** [t](https://x.y) a<b & <@U1>", "*b* <https://x.y|t> a&lt;b &amp; <@U1>"},
		{"italics", "*i* and _i_", "_i_ and _i_"},
		{"bold with underscores", "__b__", "*b*"},
		{"bold and italics", "**b** *i*", "*b* _i_"},
		{"strike", "~~s~~", "~s~"},
		{"a heading is a bold line", "## Title **x** ##", "*Title x*"},
		{"bullets", "- one\n  * two\n+ three", "• one\n  • two\n• three"},
		{"a quote", "> q **b**", "> q *b*"},
		{"code stays", "`**a** <b>` and **c**", "`**a** &lt;b&gt;` and *c*"},
		{"a fence stays, without its language", "```go\n**x** & <y>\n```\n**z**", "```\n**x** &amp; &lt;y&gt;\n```\n*z*"},
		{"Slack's tokens stay", "<#C1> <!here> <https://a.b|c> <mailto:x@y.z>", "<#C1> <!here> <https://a.b|c> <mailto:x@y.z>"},
		{"what looks like one does not", "<@nobody> <script>", "&lt;@nobody&gt; &lt;script&gt;"},
		{"a picture is a link", "![alt](https://x.y/p.png)", "<https://x.y/p.png|alt>"},
		{"a product is no emphasis", "2 * 3 * 4", "2 * 3 * 4"},
		{"names with underscores", "a_b_c", "a_b_c"},
		{"nothing", "", ""},
	} {
		if got := mrkdwn(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Whatever the text: no panic, no control marks left, no bare angle bracket
// that Slack would read as a token of ours.
func TestMrkdwnIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringOf(rapid.RuneFrom([]rune("ab *_~`<>[]()!|\\\n#-&@U1\x00\x01é😀"))).Draw(t, "text")
		out := mrkdwn(in)
		if strings.ContainsAny(out, "\x00") {
			t.Fatalf("%q holds marks", out)
		}
		bare := slackToken.ReplaceAllString(out, "")
		if strings.ContainsAny(bare, "<>") && !strings.Contains(bare, "> ") {
			t.Fatalf("%q has a bare bracket", out)
		}
	})
}

// Slack's text as people read it.
func TestPlainText(t *testing.T) {
	for in, want := range map[string]string{
		"a &lt;b&gt; &amp;amp;":               "a <b> &amp;",
		"<https://x.y>":                       "https://x.y",
		"<https://x.y|x.y>":                   "https://x.y",
		"<https://x.y|name>":                  "name (https://x.y)",
		"<mailto:a@b.c|a@b.c>":                "a@b.c",
		"<@U1> <@U1|bob>":                     "<@U1> <@U1|bob>",
		"<#C1|general> <#C2>":                 "#general <#C2>",
		"<!here> <!channel>":                  "@here @channel",
		"<!subteam^S1|@team> <!subteam^S1>":   "@team <!subteam^S1>",
		"<!date^1392734382^{date}|yesterday>": "yesterday",
		"1 < 2 > 0":                           "1 < 2 > 0",
	} {
		if got := plainText(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// 30 kB of Markdown with tables, nested fences and emoji: the posts are within
// the limit, their fences are balanced, they stand in one thread and in order,
// and nothing is lost [SL23, slack-22]. The golden file is what people see.
func TestLongMarkdown(t *testing.T) {
	text := longMarkdown()
	if len(text) < 30_000 {
		t.Fatalf("only %d bytes", len(text))
	}
	r := newRig(t, setup{})
	root := r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "root"})
	out := reply("d1", r.to(slacktest.General, root), text)
	r.send(out)
	var seen []string
	for i, m := range r.s.Posts(slacktest.General) {
		post := m.Read()
		if n := utf8.RuneCountInString(post); n > 4000 {
			t.Errorf("post %d has %d characters", i, n)
		}
		if m.Thread != root {
			t.Errorf("post %d is in %q", i, m.Thread)
		}
		if n := fences(post); n%2 != 0 {
			t.Errorf("post %d has %d fences", i, n)
		}
		seen = append(seen, post)
	}
	if most := utf8.RuneCountInString(text)/4000 + 5; len(seen) > most {
		t.Errorf("%d posts, want at most %d", len(seen), most)
	}
	all := strings.Join(seen, "\n")
	for i := range 40 {
		if n := strings.Count(all, fmt.Sprintf("mark-%02d", i)); n != 3 {
			t.Errorf("mark %d stands there %d times", i, n)
		}
	}
	got := strings.Join(seen, "\n======== next post ========\n")
	golden := filepath.Join("testdata", "long.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("the posts differ from %s (%v); look at them with -update", golden, err)
	}
}

// fences counts the lines that open or close a block at the outer level.
func fences(post string) (n int) {
	open := ""
	for line := range strings.SplitSeq(post, "\n") {
		bare := strings.TrimSpace(line)
		mark := bare[:len(bare)-len(strings.TrimLeft(bare, "`"))]
		switch {
		case open == "" && len(mark) >= 3:
			open = mark
			n++
		case open != "" && len(mark) >= len(open) && mark == bare:
			open = ""
			n++
		}
	}
	return n
}

// longMarkdown is a long answer with everything in it.
func longMarkdown() string {
	var b strings.Builder
	b.WriteString("# A long answer 🚀\n\nIt begins with a list:\n\n1. first\n   - nested\n     - deeper\n2. second\n\n")
	for i := range 40 {
		fmt.Fprintf(&b, "## Section %d mark-%02d 👩‍👩‍👧\n\n", i, i)
		b.WriteString("Some *prose* with **weight**, `inline code`, a [link](https://example.com/a?b=c&d=e) and <@U0BOB>. ")
		b.WriteString(strings.Repeat("Sätze mit Ümlauten und 漢字。 ", 6))
		b.WriteString("\n\n")
		switch i % 4 {
		case 0:
			b.WriteString("| name | value | note |\n|---|---:|:---|\n")
			for j := range 8 {
				fmt.Fprintf(&b, "| row %d | %d | `x|y` ✅ |\n", j, i*j)
			}
		case 1:
			b.WriteString("````markdown\nAn example:\n\n```go\nfmt.Println(\"nested\")\n```\n````\n")
		case 2:
			b.WriteString("```go title=\"main.go\"\n")
			for j := range 30 {
				fmt.Fprintf(&b, "\tx%d := compute(%d, \"%s\") // line %d\n", j, i, strings.Repeat("·", j%5), j)
			}
			b.WriteString("```\n")
		default:
			b.WriteString("> A quote that goes on\n> over two lines 🎉\n\n- [x] done\n- [ ] to do\n")
		}
		fmt.Fprintf(&b, "\nmark-%02d and mark-%02d end it.\n\n", i, i)
	}
	return b.String()
}
