package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"standin/bot"
	"standin/channels"
	"standin/cmd/standin/config"
	"standin/fallback"
	"standin/fallback/provider/providertest"
)

// More words of the scenarios, for many messages and for what lies beneath.
//
//	again                     the platform delivers the latest message once more
//	refuse KEY…               vendors refuse these credentials from here on
//	heal                      every vendor answers plainly from here on
//	settle                    wait until all turns and sends are done
//	many N GAP TEXT           N messages, one each GAP, each dealt with before the next
//	crowd N TEXT              the same message in N rooms at once; waits until all are done
//	crowdpost N TEXT          the same without waiting
//	crowdrow N free|SOURCE MODEL   the stored selection of each of them
//	each KIND N TEXT          the next N messages in the room, all of that kind
//	calls [MODEL=N…]          how often each model was called since the last asked or calls
//	heard [ROLE:TEXT…]        the conversation of the latest call
//	keys [HOST=KEY…]          which credential each vendor has ever seen
//	windows PROFILE [errors=N] [disabled|blocked|*|MODEL=REASON:LEFT…]   what keeps it away now
//	reload FILE               a new config is taken over, as by SIGHUP

func crowdCommands() map[string]func(*house, *testscript.TestScript, []string) {
	return map[string]func(*house, *testscript.TestScript, []string){
		"again":     (*house).scriptAgain,
		"refuse":    (*house).scriptRefuse,
		"heal":      (*house).scriptHeal,
		"settle":    (*house).scriptSettle,
		"many":      (*house).scriptMany,
		"crowd":     (*house).scriptCrowd,
		"crowdpost": (*house).scriptCrowdPost,
		"crowdrow":  (*house).scriptCrowdRow,
		"each":      (*house).scriptEach,
		"calls":     (*house).scriptCalls,
		"heard":     (*house).scriptHeard,
		"keys":      (*house).scriptKeys,
		"windows":   (*house).scriptWindows,
		"reload":    (*house).scriptReload,
	}
}

func (h *house) scriptAgain(ts *testscript.TestScript, _ []string) {
	ts.Check(h.room.Say(context.Background(), channels.Inbound{ID: strconv.Itoa(h.said), Text: "delivered again"}))
	h.scriptSettle(ts, nil)
}

func (h *house) scriptRefuse(ts *testscript.TestScript, args []string) {
	for _, key := range args {
		h.vendors.Always(providertest.When{Key: key}, act(ts, "401:invalid api key"))
	}
}

func (h *house) scriptHeal(*testscript.TestScript, []string) { h.vendors.Heal() }

func (h *house) scriptSettle(ts *testscript.TestScript, _ []string) {
	ts.Check(h.app.Bot.Idle(context.Background()))
	synctest.Wait()
}

func (h *house) scriptMany(ts *testscript.TestScript, args []string) {
	for i := range number(ts, args[0]) {
		if i > 0 {
			h.scriptAdvance(ts, args[1:2])
		}
		h.scriptSay(ts, args[2:])
	}
}

func (h *house) scriptCrowd(ts *testscript.TestScript, args []string) {
	h.scriptCrowdPost(ts, args)
	h.scriptSettle(ts, nil)
}

func (h *house) scriptCrowdPost(ts *testscript.TestScript, args []string) {
	for i := range number(ts, args[0]) {
		h.said++
		in := crowdRoom(i)
		in.ID, in.Text = strconv.Itoa(h.said), strings.Join(args[1:], " ")
		ts.Check(h.room.Say(context.Background(), in))
	}
	synctest.Wait()
}

func crowdRoom(i int) channels.Inbound {
	return channels.Inbound{
		To:   channels.Address{Channel: "room", Conversation: fmt.Sprintf("room-%d", i)},
		Chat: channels.Room, From: channels.User{ID: "bob"}, Mentioned: true, Authorized: true,
	}
}

func (h *house) scriptCrowdRow(ts *testscript.TestScript, args []string) {
	for i := range number(ts, args[0]) {
		h.wantRow(ts, bot.SessionKey("main", crowdRoom(i)), strings.Join(args[1:], " "))
	}
}

func (h *house) scriptEach(ts *testscript.TestScript, args []string) {
	for range number(ts, args[1]) {
		h.scriptRoom(ts, []string{args[0], args[2]})
	}
}

func (h *house) scriptCalls(ts *testscript.TestScript, args []string) {
	all := h.vendors.Models()
	count := map[string]int{}
	for _, m := range all[h.counted:] {
		count[m]++
	}
	h.counted = len(all)
	same(ts, "calls", pairs(count), args)
}

func (h *house) scriptHeard(ts *testscript.TestScript, args []string) {
	all := h.vendors.Requests()
	var got []string
	for _, m := range all[len(all)-1].Messages {
		got = append(got, string(m.Role)+":"+m.Text)
	}
	if !slices.Equal(got, args) {
		ts.Fatalf("heard %q\n want %q", got, args)
	}
}

func (h *house) scriptKeys(ts *testscript.TestScript, args []string) {
	seen := map[string]bool{}
	for _, r := range h.vendors.Requests() {
		seen[r.Host+"="+r.Key] = true
	}
	same(ts, "keys", slices.Collect(maps.Keys(seen)), args)
}

func (h *house) scriptWindows(ts *testscript.TestScript, args []string) {
	states, err := h.app.DB.Credentials(nil).States(context.Background(), "main")
	ts.Check(err)
	u, now := states[fallback.ProfileID(args[0])], time.Now()
	var got []string
	add := func(name string, w fallback.Window) {
		if w.Active(now) {
			got = append(got, fmt.Sprintf("%s=%s:%s", name, w.Reason, w.Until.Sub(now).Round(time.Second)))
		}
	}
	if u.Errors > 0 {
		got = append(got, fmt.Sprintf("errors=%d", u.Errors))
	}
	add("*", u.Whole.Window)
	add("disabled", u.Disabled)
	add("blocked", u.Blocked)
	for model, c := range u.Scopes {
		add(model, c.Window)
	}
	same(ts, "windows of "+args[0], got, args[1:])
}

func (h *house) scriptReload(ts *testscript.TestScript, args []string) {
	conf, faults := config.Parse(args[0], []byte(ts.ReadFile(args[0])), ts.Getenv, h.dir)
	if conf == nil {
		ts.Fatalf("config: %v", faults)
	}
	h.app.Use(conf)
}

func (h *house) wantRow(ts *testscript.TestScript, s fallback.SessionID, want string) {
	row, err := h.app.DB.Selection(context.Background(), s)
	ts.Check(err)
	got := "free"
	if !row.Model.IsZero() {
		got = strings.TrimSpace(string(row.Source) + " " + row.Model.String())
	}
	if row.Pending {
		got += " pending"
	}
	if got != want {
		ts.Fatalf("the stored selection of %s is %s, want %s", s, got, want)
	}
	if row.Source == fallback.Auto && row.Origin.IsZero() {
		ts.Fatalf("an automatic selection without its origin")
	}
}

// same compares sets.
func same(ts *testscript.TestScript, what string, got, want []string) {
	slices.Sort(got)
	want = slices.Clone(want)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		ts.Fatalf("%s: %q\nwant %q", what, got, want)
	}
}

func pairs(count map[string]int) (list []string) {
	for name, n := range count {
		list = append(list, fmt.Sprintf("%s=%d", name, n))
	}
	return list
}

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}
