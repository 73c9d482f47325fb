//go:build ignore

// Load prints what a turn costs from Slack's event to the post that answers it:
// `standin serve` as it is, over the wire of a stand-in for Slack, with a vendor
// that answers at once. Conversations talk side by side, each says its next
// message when the last one is answered. "echo" is the floor: a client that
// does nothing but acknowledge and post, against the same stand-in in the same
// run. Busy rooms are the limit of the machine, where a message waits for the
// others; where people pause, the times are a turn's own. It judges nothing.
//
//	go run scripts/load.go [-rooms 50] [-turns 3000] [-pause 500ms]
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"standin/channels/slack/slacktest"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
)

func main() {
	rooms := flag.Int("rooms", 50, "conversations side by side")
	turns := flag.Int("turns", 3000, "turns of each run")
	pause := flag.Duration("pause", 500*time.Millisecond, "of people between two messages, where they make one")
	flag.Parse()
	dir, err := os.MkdirTemp("", "load-") // short: the path of a socket is bounded
	check(err)
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "standin")
	out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, "./cmd/standin").CombinedOutput()
	if err != nil {
		log.Fatalf("build: %v\n%s", err, out)
	}
	stage := &providertest.Stage{Answer: func(string, []provider.Message) providertest.StageReply {
		return providertest.StageReply{Text: "The answer, which is not long."}
	}}
	vendor := httptest.NewServer(stage.OpenAI())
	defer vendor.Close()

	fmt.Printf("%-22s %8s %8s %8s %12s\n", "", "turns/s", "p50 ms", "p99 ms", "cpu ms/turn")
	type starter func(*workspace) (cpu func() time.Duration, stop func())
	daemon := func(streaming string) starter {
		return func(w *workspace) (func() time.Duration, func()) {
			return serve(bin, dir, vendor.URL, w, streaming)
		}
	}
	for _, r := range []struct {
		name  string
		start starter
		pause time.Duration
	}{
		{"echo, busy", echo, 0},
		{"standin, busy", daemon("off"), 0},
		{"standin drafts, busy", daemon("partial"), 0},
		{"echo, pauses", echo, *pause},
		{"standin, pauses", daemon("off"), *pause},
		{"standin drafts, pauses", daemon("partial"), *pause},
	} {
		w := newWorkspace(*rooms)
		cpu, stop := r.start(w)
		w.talk(2**rooms, 0) // warm
		spent := cpu()
		began := time.Now()
		n := *turns
		if r.pause > 0 {
			n = min(n, 10**rooms)
		}
		took := w.talk(n, r.pause)
		all := time.Since(began)
		spent = cpu() - spent
		stop()
		w.close()
		slices.Sort(took)
		at := func(q float64) float64 { return ms(took[int(q*float64(len(took)-1))]) }
		own := "-"
		if spent > 0 {
			own = fmt.Sprintf("%.2f", ms(spent)/float64(len(took)))
		}
		fmt.Printf("%-22s %8.0f %8.1f %8.1f %12s\n", r.name, float64(len(took))/all.Seconds(), at(0.5), at(0.99), own)
	}
}

// workspace is a stand-in for Slack whose posts are seen as they are answered.
type workspace struct {
	slack *slacktest.Server
	door  *httptest.Server // before its Web API
	rooms []string
	posts map[string]chan struct{} // by room
}

func newWorkspace(n int) *workspace {
	s, err := slacktest.Listen("127.0.0.1:0")
	check(err)
	w := &workspace{slack: s, posts: map[string]chan struct{}{}}
	for i := range n {
		id := fmt.Sprintf("C0ROOM%03d", i)
		s.AddRoom(slacktest.Room{ID: id, Kind: "channel", Members: []string{slacktest.Alice, slacktest.BotUser}})
		w.rooms = append(w.rooms, id)
		w.posts[id] = make(chan struct{}, 1)
	}
	target, err := url.Parse(s.URL)
	check(err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 2 * n}
	w.door = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		final := strings.HasSuffix(r.URL.Path, "/chat.postMessage") || strings.HasSuffix(r.URL.Path, "/chat.update")
		var form url.Values
		if final {
			body, err := io.ReadAll(r.Body)
			check(err)
			form, err = url.ParseQuery(string(body))
			check(err)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		proxy.ServeHTTP(rw, r)
		if final && !strings.Contains(form.Get("metadata"), `"draft-`) { // the answer, not a part of it
			w.posts[form.Get("channel")] <- struct{}{}
		}
	}))
	return w
}

func (w *workspace) close() { w.door.Close(); w.slack.Close() }

// talk says n messages over all rooms, with a pause before each, and gives how
// long each waited.
func (w *workspace) talk(n int, pause time.Duration) []time.Duration {
	var next atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	var all sync.WaitGroup
	for i, room := range w.rooms {
		all.Go(func() {
			time.Sleep(pause * time.Duration(i) / time.Duration(len(w.rooms))) // people do not speak in step
			for next.Add(1) <= int64(n) {
				time.Sleep(pause)
				began := time.Now()
				w.slack.Say(slacktest.Say{Room: room, User: slacktest.Alice, Text: "hello there"})
				select {
				case <-w.posts[room]:
				case <-time.After(30 * time.Second):
					log.Fatalf("%s got no answer", room)
				}
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return took
}

// serve runs the daemon against the workspace and the vendor.
func serve(bin, dir, vendor string, w *workspace, streaming string) (func() time.Duration, func()) {
	state, err := os.MkdirTemp(dir, "s")
	check(err)
	config := filepath.Join(state, "config.yaml")
	check(os.WriteFile(config, []byte(fmt.Sprintf(`
agents: {defaults: {model: {primary: openai/a}, maxConcurrent: 64, historyLimit: 10}}
models: {providers: {openai: {baseUrl: %s/v1, api: openai-completions, apiKey: k}}}
channels: {slack: {apiUrl: %s/api/, groupPolicy: open, requireMention: false, streaming: '%s'}}
`, vendor, w.door.URL, streaming)), 0o600))
	c := exec.Command(bin, "serve", "-c", config, "--state", state, "--log", "-")
	c.Env = append(os.Environ(), "SLACK_BOT_TOKEN="+slacktest.BotToken, "SLACK_APP_TOKEN="+slacktest.AppToken)
	lines, err := c.StderrPipe()
	check(err)
	check(c.Start())
	go func() {
		for in := bufio.NewScanner(lines); in.Scan(); {
			if strings.Contains(in.Text(), `"level":"ERROR"`) {
				fmt.Fprintln(os.Stderr, in.Text())
			}
		}
	}()
	w.connected()
	return func() time.Duration { return cpuOf(c.Process.Pid) }, func() {
		check(c.Process.Signal(os.Interrupt))
		_ = c.Wait()
	}
}

func (w *workspace) connected() {
	for deadline := time.Now().Add(10 * time.Second); w.slack.Connected() == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			log.Fatal("nobody connects")
		}
	}
}

// cpuOf is the processor time of a process so far (Linux).
func cpuOf(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	check(err)
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var ticks int64
	for _, f := range fields[11:13] { // utime and stime, 100 a second
		n, err := strconv.ParseInt(f, 10, 64)
		check(err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// echo acknowledges and posts, in this process: its own time is not told apart.
func echo(w *workspace) (func() time.Duration, func()) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	call := func(method, token string, form url.Values) map[string]any {
		req, err := http.NewRequest(http.MethodPost, w.door.URL+"/api/"+method, strings.NewReader(form.Encode()))
		check(err)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := client.Do(req)
		check(err)
		defer func() { _ = resp.Body.Close() }()
		var a map[string]any
		check(json.NewDecoder(resp.Body).Decode(&a))
		if a["ok"] != true {
			log.Fatalf("%s: %v", method, a["error"])
		}
		return a
	}
	at, _ := call("apps.connections.open", slacktest.AppToken, nil)["url"].(string)
	conn, _, err := websocket.DefaultDialer.Dial(at, nil)
	check(err)
	go func() {
		for {
			var frame struct {
				Type     string
				Envelope string `json:"envelope_id"`
				Payload  struct {
					Event struct{ Channel, User, Text string }
				}
			}
			if conn.ReadJSON(&frame) != nil {
				return // closed
			}
			if frame.Envelope == "" {
				continue
			}
			check(conn.WriteJSON(map[string]string{"envelope_id": frame.Envelope}))
			if ev := frame.Payload.Event; ev.User == slacktest.Alice {
				go call("chat.postMessage", slacktest.BotToken, url.Values{"channel": {ev.Channel}, "text": {ev.Text}})
			}
		}
	}()
	w.connected()
	return func() time.Duration { return 0 }, func() { _ = conn.Close() }
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
