package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"standin/bot/operator"
)

// A person says something and sees, without asking again, what becomes of it: the
// notice of standin set apart from the agent's answer.
func TestAChatIsAnsweredAndItsNoticeStandsApart(t *testing.T) {
	b := browser(t)
	p := open(t, b, startFake(t, nil).URL, "#/chat", style{})
	p.sees("Is the backup through?")
	p.does(chromedp.SendKeys(chromedp.ID("text"), "hello there"+kb.Enter))
	p.sees("You said: hello there")
	if got := js[string](p, `[...document.querySelectorAll("#log > li")].slice(-3).map((li) => li.className).join(", ")`); got != "message mine, message notice, message reply" {
		t.Errorf("the chat ends in %s", got)
	}
	if got := js[string](p, `document.querySelector(".message.notice strong").textContent`); got != "Notice of standin" {
		t.Errorf("the notice is said by %q", got)
	}
	for _, property := range []string{"borderTopStyle", "backgroundColor", "alignSelf"} {
		of := func(kind string) string {
			return js[string](p, fmt.Sprintf(`getComputedStyle(document.querySelector(".message.%s")).%s`, kind, property))
		}
		if of("notice") == of("reply") {
			t.Errorf("notices and answers have the same %s: %s", property, of("notice"))
		}
	}
	p.until(`document.getElementById("text").value === "" && document.activeElement.id === "text"`, "the field is empty and ready for the next message")
	p.until(`(() => { const l = document.getElementById("log"); return l.scrollHeight - l.scrollTop - l.clientHeight < 5; })()`, "the latest message is in sight")
	p.looksWell("chat answered")
	p.quiet()
}

// A message that could not be handed over is handed over again under the same
// id, so that it is not said twice; the words stay in the field meanwhile.
func TestAMessageThatFailedIsNotSaidTwice(t *testing.T) {
	b := browser(t)
	d := startFake(t, func(d *fake) { d.lost["POST /chat"] = true })
	p := open(t, b, d.URL, "#/chat", style{})
	p.sees("Is the backup through?")
	p.does(chromedp.SendKeys(chromedp.ID("text"), "only once"))
	p.clicks("Send")
	p.sees("The connection was lost.")
	if got := js[string](p, `document.getElementById("text").value`); got != "only once" {
		t.Errorf("the field holds %q", got)
	}
	d.mu.Lock()
	delete(d.lost, "POST /chat")
	d.mu.Unlock()
	p.clicks("Send")
	p.until(`document.getElementById("text").value === "" && !document.body.innerText.includes("The connection was lost.")`, "it is handed over, and the fault is gone")
	if n := js[int](p, `document.body.innerText.split("You said: only once").length - 1`); n != 1 {
		t.Errorf("it was answered %d times", n)
	}
}

// A credential is freed: asked once, done under the person's name, seen at once.
func TestAnActionIsAskedOnceAndSaysWhoDidIt(t *testing.T) {
	b := browser(t)
	d := startFake(t, func(d *fake) { d.name = "Olga" })
	p := open(t, b, d.URL, "#/now", style{})
	p.sees("stands in for " + claude)
	p.clicks("Use again now: anthropic:work")
	p.until(`document.getElementById("ask").open`, "it asks")
	p.sees("It will be recorded as done by Olga.")
	p.looksWell("ask")
	if d.did("POST /credentials/anthropic:work/clear") {
		t.Fatal("it was done before it was confirmed")
	}
	p.does(chromedp.KeyEvent(kb.Escape))
	p.until(`!document.getElementById("ask").open`, "escape closes the question")
	if got := js[string](p, `document.activeElement.getAttribute("aria-label")`); got != "Use again now: anthropic:work" {
		t.Errorf("the focus went to %q", got)
	}
	p.clicks("Use again now: anthropic:work")
	p.clicks("Use again now")
	p.sees("(by Olga)")
	p.sees(claude + " answers.")
	p.sees("credential.clear")
	if !d.did("POST /credentials/anthropic:work/clear") {
		t.Error("it was not done")
	}
	if live := js[string](p, `document.getElementById("said").getAttribute("aria-live")`); live != "polite" {
		t.Errorf("what was done is told to screen readers as %q", live)
	}
	p.quiet()
}

// What cannot be undone puts the focus on the way out.
func TestADangerousActionStartsOnCancel(t *testing.T) {
	b := browser(t)
	d := startFake(t, nil)
	p := open(t, b, d.URL, "#/session/"+alice, style{})
	p.sees("How is the database?")
	p.clicks("Forget this session")
	p.until(`document.getElementById("ask").open && document.activeElement.textContent === "Cancel"`, "the focus is on Cancel")
	p.does(chromedp.KeyEvent(kb.Enter))
	p.until(`!document.getElementById("ask").open`, "the question is closed")
	if d.did("DELETE /sessions/" + alice) {
		t.Error("the session was forgotten")
	}
}

func TestAnActionThatIsRefusedSaysWhy(t *testing.T) {
	b := browser(t)
	d := startFake(t, func(d *fake) {
		d.fails["PATCH /sessions/"+alice] = "The model is not allowed here. Allowed are: openai/*."
	})
	p := open(t, b, d.URL, "#/session/"+alice, style{})
	p.sees("How is the database?")
	p.clicks("Choose model")
	p.does(chromedp.SetValue(chromedp.CSS("#ask select"), gemini))
	p.clicks("Choose")
	p.sees("The model is not allowed here.")
	if !js[bool](p, `document.getElementById("ask").open`) {
		t.Error("the question was closed although nothing was done")
	}
	d.mu.Lock()
	clear(d.fails)
	d.mu.Unlock()
	p.clicks("Choose")
	p.sees(gemini + " is selected.")
	p.until(fmt.Sprintf(`document.querySelector(".facts").innerText.includes(%q)`, "a person's choice"), "the session shows the choice")
}

func TestJobsAreRunAndSwitched(t *testing.T) {
	b := browser(t)
	d := startFake(t, nil)
	p := open(t, b, d.URL, "#/jobs", style{})
	p.sees("Morning report")
	p.clicks("Disable: Morning report")
	p.clicks("Disable")
	p.sees("Morning report is disabled. (by operator)")
	p.clicks("Enable: Morning report")
	p.clicks("Enable")
	p.sees("Morning report is enabled.")
	p.clicks("Run now: Morning report")
	p.clicks("Run now")
	p.sees("It runs as soon as one of the running jobs is done.")
	p.clicks("Try: heartbeat of main")
	p.clicks("Try")
	p.sees("The backup of last night is missing.")
	p.quiet()
}

// What happens is shown as it happens, and what a person is doing stays: the
// focus, what is folded out, what was typed.
func TestNewsArriveAndDisturbNobody(t *testing.T) {
	b := browser(t)
	d := startFake(t, nil)
	p := open(t, b, d.URL, "#/sessions", style{})
	p.sees("as selected")
	p.until(`document.getElementById("live").textContent === "Live"`, "it listens")
	p.does(chromedp.SendKeys(chromedp.CSS("input[name=q]"), "half a wo"))
	d.mu.Lock()
	d.model["agent:main:discord:channel:1199"] = gemini
	d.mu.Unlock()
	d.tell("changed", operator.Event{What: "sessions"})
	p.sees(gemini)
	if got := js[string](p, `document.activeElement.name + "=" + document.activeElement.value`); got != "q=half a wo" {
		t.Errorf("after the news the focus is at %q", got)
	}
	p.quiet()
}

func TestRehearsalsArePlayed(t *testing.T) {
	b := browser(t)
	for _, still := range []bool{false, true} {
		t.Run(fmt.Sprintf("reduced motion %v", still), func(t *testing.T) {
			p := open(t, b, startFake(t, nil).URL, "#/rehearse", style{still: still})
			p.sees("The vendor of the first model answers 429")
			p.clicks("Play")
			p.sees("anthropic:work rests for a minute.")
			if still && !js[bool](p, `document.body.innerText.includes("It is over")`) {
				t.Error("it moves although the person wants nothing to move")
			}
			if !still {
				p.clicks("Show all at once")
			}
			p.sees("It is over: 8 steps, 25 min on its clock, 38 ms on ours.")
			p.looksWell(fmt.Sprintf("rehearsed %v", still))
			p.does(chromedp.SendKeys(chromedp.CSS("input[name=simulate]"), "anthropic/*=429"))
			p.clicks("Explain")
			p.sees("anthropic is passed over.")
			p.quiet()
		})
	}
}

// The door: without the token nothing is shown, and what is done afterwards has a
// name.
func TestTheDoorAsksForTheToken(t *testing.T) {
	b := browser(t)
	d := startFake(t, func(d *fake) { d.locked = true })
	p := open(t, b, d.URL, "#/jobs", style{width: 360})
	p.sees("The token stands in the config")
	p.until(`document.activeElement.name === "token"`, "the focus is on the token")
	p.looksWell("door")
	if d.did("GET /cron") {
		t.Error("it asked for jobs before anybody had logged in")
	}
	p.does(chromedp.SendKeys(chromedp.CSS("input[name=token]"), "not this"+kb.Enter))
	p.sees("This is not the token.")
	p.until(`document.activeElement.name === "token"`, "the focus is on the token again")
	p.does(chromedp.SendKeys(chromedp.CSS("input[name=name]"), "Olga"), chromedp.SendKeys(chromedp.CSS("input[name=token]"), token+kb.Enter))
	p.sees("Morning report") // where the person wanted to go
	p.sees("You are Olga")
	if got := js[string](p, `document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + location.href`); strings.Contains(got, token) {
		t.Error("the page keeps the token")
	}
	p.clicks("Log out")
	p.sees("You are logged out.")
	p.until(`!document.body.innerText.includes("Morning report")`, "nothing is shown any more")
	// The browser itself reports the refused login; nothing else is wrong.
	for _, m := range p.console() {
		if !strings.Contains(m, "401") {
			t.Errorf("the console says: %s", m)
		}
	}
}

// Where no token is needed, a person can say who they are all the same.
func TestANameIsGivenWithoutAToken(t *testing.T) {
	b := browser(t)
	p := open(t, b, startFake(t, nil).URL, "#/chat", style{})
	p.sees("You are operator")
	p.clicks("Change name")
	p.does(chromedp.SendKeys(chromedp.CSS("#ask input[name=name]"), "Olga"))
	p.clicks("Save")
	p.sees("You are Olga")
	p.quiet()
}

// A daemon that keeps no costs is not asked for them.
func TestCostsThatAreNotKeptAreNotAskedFor(t *testing.T) {
	b := browser(t)
	d := startFake(t, func(d *fake) { d.noCost = true; d.fails["GET /cost"] = "Costs are not kept." })
	p := open(t, b, d.URL, "#/cost", style{})
	p.sees("Costs are not kept by this daemon")
	p.quiet()
}

// By keyboard alone: the first stop skips the navigation, a link leads to its
// view, and the view's heading is read next.
func TestTheKeyboardIsEnough(t *testing.T) {
	b := browser(t)
	p := open(t, b, startFake(t, nil).URL, "#/now", style{})
	p.sees("stands in for")
	p.does(chromedp.KeyEvent(kb.Tab))
	p.until(`document.activeElement.textContent === "Skip to the content"`, "the first stop skips the navigation")
	p.does(chromedp.KeyEvent(kb.Enter))
	p.until(`document.activeElement.id === "view"`, "it skips")
	p.does(chromedp.KeyEvent(kb.Tab))
	p.until(`document.querySelector("main").contains(document.activeElement)`, "the next stop is in the content")
	p.does(chromedp.Focus(chromedp.CSS(`#nav a[href="#/jobs"]`)), chromedp.KeyEvent(kb.Enter))
	p.sees("at 07:30 on weekdays")
	p.until(`document.activeElement.nodeName === "H1" && document.activeElement.textContent === "Jobs"`, "the heading is read next")
	p.until(`document.querySelector("#nav [aria-current]").textContent === "Jobs" && document.title === "Jobs · standin"`, "it says where one is")
	p.does(chromedp.NavigateBack())
	p.sees("Sessions on a stand-in")
	p.quiet()
}

// What is looked at stands in the address, and longer lists come in pages.
func TestFiltersStandInTheAddress(t *testing.T) {
	b := browser(t)
	p := open(t, b, startFake(t, nil).URL, "#/sessions", style{})
	p.sees("as selected")
	p.does(chromedp.Evaluate[chromedp.Void](`(() => { const s = document.querySelector("select[name=state]"); s.value = "running"; s.dispatchEvent(new Event("change", { bubbles: true })); })()`))
	p.sees("No session fits.")
	if got := js[string](p, "location.hash"); got != "#/sessions?state=running" {
		t.Errorf("the address is %s", got)
	}
	p.does(chromedp.NavigateBack())
	p.sees("as selected")
	p.does(chromedp.Evaluate[chromedp.Void](`location.hash = "#/timeline?hours=6"`))
	p.sees("Show older runs")
	p.clicks("Show older runs")
	p.until(`document.querySelector("main").textContent.includes("900 ms")`, "the older run is there")
	p.quiet()
}

func TestADaemonThatIsGoneIsSaidAndComesBack(t *testing.T) {
	b := browser(t)
	d := startFake(t, nil)
	p := open(t, b, d.URL, "#/now", style{})
	p.sees("Live")
	d.CloseClientConnections()
	p.sees("Not connected: trying again")
	p.sees("Live")
}
