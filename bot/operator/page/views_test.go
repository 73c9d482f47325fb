package page_test

import (
	"fmt"
	"testing"

	"standin/bot/operator"
)

// views are all addresses of the page, each with what it must show.
var views = []struct {
	name, hash string
	shows      []string
}{
	{"now", "#/now", []string{"stands in for " + claude, "Sessions on a stand-in", "passed over: it rests", "left)", "The gateway refused the token.", "Put a new token at", "2 sessions on a stand-in.", "$3.42", "There is no credential for google", "It is passed over: its credentials rest"}},
	{"timeline", "#/timeline", []string{"Agent main", "fell back", "returned", "by Bob", "the model that was asked for", "Show older runs"}},
	{"run", "#/run/01RUN", []string{"refused: too many requests.", "HTTP 429", "req_011CSHoEeqs5C35K2UUqR7Fy", "gpt-5.2 answered.", "number of request tokens", "2 attempts"}},
	{"sessions", "#/sessions", []string{alice, "stand-in: rate limit", "as selected"}},
	{"session", "#/session/" + alice, []string{"Another model stands in", "How is the database?", "asked for tools: read", "↪️ Model Fallback"}},
	{"jobs", "#/jobs", []string{"Morning report", "at 07:30 on weekdays", "All models failed (2)", "Its model is not allowed any more", "heartbeat of main", "8 times", "HEARTBEAT.md is empty"}},
	{"job", "#/job/j1", []string{"the job's own", "All is well.", "1 did not answer", "The channel is archived."}},
	{"cost", "#/cost", []string{"$3.42", claude, "2 calls of unknown price", "Jobs", "used up"}},
	{"rehearse", "#/rehearse", []string{"The vendor of the first model answers 429", "What would a message do now?"}},
	{"chat", "#/chat", []string{"Is the backup through?", "it ended at 03:12", "No model can answer right now"}},
}

// Every view, by light and by dark, in a window and on a phone: it shows what it
// is for, everything in it has a name and can be read, and nobody complains.
func TestEveryViewCanBeReadByEverybody(t *testing.T) {
	b := browser(t)
	d := startFake(t, nil)
	for _, s := range []struct {
		name string
		style
	}{{"light", style{}}, {"dark", style{dark: true}}, {"narrow", style{width: 1024}}, {"phone", style{width: 360}}, {"phone dark", style{dark: true, width: 360, still: true}}} {
		for _, v := range views {
			t.Run(s.name+" "+v.name, func(t *testing.T) {
				p := open(t, b, d.URL, v.hash, s.style)
				for _, text := range v.shows {
					p.sees(text)
				}
				p.looksWell(v.name + " " + s.name)
				p.quiet()
			})
		}
	}
}

// What the vendors, the rooms and the files are called is told by others. It is
// shown as it is, and nothing of it runs.
func TestMarkupInNamesIsText(t *testing.T) {
	const evil = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`
	b := browser(t)
	d := startFake(t, func(d *fake) {
		d.evil = evil
		d.chat = append(d.chat, operator.ChatMessage{ID: "evil", At: d.at, From: "agent", Kind: "notice", Text: "↪️ " + evil + "\n[" + evil + ".png]"}, operator.ChatMessage{ID: `"><b>`, At: d.at, From: "operator", Kind: "said", Who: evil, Text: evil})
	})
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			p := open(t, b, d.URL, v.hash, style{})
			if v.name == "rehearse" {
				p.clicks("Play")
				p.clicks("Show all at once")
			}
			p.until(fmt.Sprintf("document.querySelector('main').textContent.includes(%q)", evil), "the name stands there as text")
			if n := js[int](p, "document.querySelectorAll('main img, main script, main b').length"); n != 0 {
				t.Errorf("%d elements were made of names", n)
			}
			if title := js[string](p, "document.title"); title == "taken" {
				t.Errorf("a name was run: the title is %q", title)
			}
			p.quiet()
		})
	}
}

// The page is there at once.
func TestTheFirstPaintComesInABlink(t *testing.T) {
	b := browser(t)
	d := startFake(t, nil)
	p := open(t, b, d.URL, "", style{})
	p.sees("stands in for")
	paint := js[float64](p, "performance.getEntriesByName('first-contentful-paint')[0].startTime")
	bytes := js[float64](p, "performance.getEntriesByType('resource').filter((r) => r.name.includes('/page/')).reduce((n, r) => n + r.encodedBodySize, performance.getEntriesByType('navigation')[0].encodedBodySize)")
	t.Logf("first paint after %.0f ms, content after %.0f ms, %.0f bytes over the wire", paint, js[float64](p, "performance.getEntriesByType('resource').filter((r) => r.name.endsWith('/now'))[0].responseEnd"), bytes)
	if bytes > 150_000 || bytes == 0 {
		t.Errorf("the page takes %.0f bytes", bytes)
	}
	p.quiet()
}
