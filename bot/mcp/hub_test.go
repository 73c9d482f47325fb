package mcp_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"standin/bot/mcp"
	"standin/bot/tools"
	"standin/fallback/provider"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The test binary is a server of its own when it is asked to be one.
func TestMain(m *testing.M) {
	switch os.Getenv("TEST_MCP_SERVER") {
	case "serve":
		if err := server().Run(context.Background(), &sdk.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(0)
	case "broken":
		fmt.Fprintln(os.Stderr, "starting\nno database: token=sk-proj-abcdefghijklmnopqrstuvwxyz0123456789")
		os.Exit(3)
	case "babbling":
		fmt.Fprintln(os.Stderr, "cannot log in with "+strings.TrimPrefix(os.Getenv("SHOP"), "Bearer "))
		os.Exit(3)
	}
	os.Exit(m.Run())
}

type text struct {
	Text string `json:"text"`
}

func server() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	say := func(_ context.Context, _ *sdk.CallToolRequest, in text) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "you said " + in.Text}}}, nil, nil
	}
	sdk.AddTool(s, &sdk.Tool{Name: "say.it", Description: "Says it.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, say)
	sdk.AddTool(s, &sdk.Tool{Name: "say_it"}, say) // the same name here, where dots have to go
	sdk.AddTool(s, &sdk.Tool{Name: "env"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Join(os.Environ(), "\n")}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "fail"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return nil, nil, fmt.Errorf("no such page")
	})
	sdk.AddTool(s, &sdk.Tool{Name: "die"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		os.Exit(9)
		return nil, nil, nil
	})
	return s
}

func program(name, mode string) mcp.Server {
	return mcp.Server{Name: name, Command: []string{os.Args[0]}, Env: []string{"TEST_MCP_SERVER=" + mode}}
}

// hub runs servers; waits between tries are told and not waited for.
func hub(t *testing.T, servers ...mcp.Server) (h *mcp.Hub, waits chan time.Duration) {
	t.Helper()
	waits = make(chan time.Duration, 100)
	h = mcp.New(mcp.Options{Version: "test", Environ: append(os.Environ(), "OPENAI_API_KEY=canary"), Now: time.Now,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Sleep: func(ctx context.Context, d time.Duration) error {
			select {
			case waits <- d:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}})
	h.Use(servers)
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h, waits
}

// until waits for a server to be in a state.
func until(t *testing.T, h *mcp.Hub, want func(mcp.Standing) bool) mcp.Standing {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, s := range h.Status() {
			if want(s) {
				return s
			}
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("%+v", h.Status())
		}
	}
}

func ready(s mcp.Standing) bool { return s.State == mcp.Ready }

func use(t *testing.T, h *mcp.Hub, name, input string) (string, error) {
	t.Helper()
	for _, tool := range h.Tools() {
		if tool.Name == name {
			r, err := tool.Run(t.Context(), tools.Place{}, []byte(input))
			return r.Text, err
		}
	}
	t.Fatalf("no tool %s", name)
	return "", nil
}

// A program's tools are there under the server's name, act unless they say that
// they only read, and see nothing of our keys.
func TestAProgramsTools(t *testing.T) {
	s := program("notes", "serve")
	s.Deny = []string{"fa*"}
	h, _ := hub(t, s)
	until(t, h, ready)
	acts := map[string]bool{}
	for _, tool := range h.Tools() {
		acts[tool.Name] = tool.Acts
		if !tool.Owner || !tool.Foreign || !strings.HasPrefix(tool.Description, "From notes: ") {
			t.Errorf("%+v", tool)
		}
	}
	if len(acts) != 3 || len(h.Tools()) != 3 || acts["notes__say_it"] || !acts["notes__env"] {
		t.Errorf("tools %v", acts)
	}
	if said, err := use(t, h, "notes__say_it", `{"text":"hello"}`); err != nil || said != "you said hello" {
		t.Errorf("%q, %v", said, err)
	}
	if env, err := use(t, h, "notes__env", `{}`); err != nil || strings.Contains(env, "canary") || !strings.Contains(env, "PATH=") {
		t.Errorf("the server sees %q, %v", env, err)
	}
}

// What a server was given to keep is neither in what its tools give back nor in
// what it complains of, though it says both aloud [I12].
func TestAServersSecretsStayItsOwn(t *testing.T) {
	given := func(s mcp.Server) mcp.Server {
		s.Env = append(s.Env, "SHOP=Bearer canary-shop", "LEVEL=debug")
		s.Secrets = []provider.Key{provider.NewKey("Bearer canary-shop")}
		return s
	}
	h, _ := hub(t, given(program("notes", "serve")), given(program("broken", "babbling")))
	until(t, h, func(s mcp.Standing) bool { return s.Name == "notes" && ready(s) })
	env, err := use(t, h, "notes__env", `{}`)
	if err != nil || strings.Contains(env, "canary") || !strings.Contains(env, "SHOP=[secret]") || !strings.Contains(env, "LEVEL=debug") {
		t.Errorf("the model reads %q, %v", env, err)
	}
	s := until(t, h, func(s mcp.Standing) bool { return s.Name == "broken" && s.Error != "" })
	if strings.Contains(s.Error, "canary") || !strings.Contains(s.Error, "cannot log in with [secret]") {
		t.Errorf("%q", s.Error)
	}
}

// A server that dies is started again; its failure is told with its own last
// words and without secrets.
func TestAServerIsStartedAgain(t *testing.T) {
	h, waits := hub(t, program("notes", "serve"), program("broken", "broken"))
	before := until(t, h, func(s mcp.Standing) bool { return s.Name == "notes" && ready(s) })
	if _, err := use(t, h, "notes__die", `{}`); err == nil {
		t.Error("a dead server answered")
	}
	until(t, h, func(s mcp.Standing) bool { return s.Name == "notes" && ready(s) && s.Since.After(before.Since) })
	if _, err := use(t, h, "notes__fail", `{}`); err == nil || err.Error() != "no such page" {
		t.Errorf("%v", err)
	}
	s := until(t, h, func(s mcp.Standing) bool { return s.Name == "broken" && s.Error != "" })
	if !strings.Contains(s.Error, "no database") || strings.Contains(s.Error, "abcdefgh") {
		t.Errorf("%q", s.Error)
	}
	longest := time.Duration(0)
	for range 20 {
		longest = max(longest, <-waits)
	}
	if longest != 5*time.Minute {
		t.Errorf("the longest wait is %s", longest)
	}
}

// A server over HTTP gets the operator's headers, and a reload leaves what did
// not change alone.
func TestAServerOverHTTP(t *testing.T) {
	s := server()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer let-me-in" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	defer web.Close()
	conf := mcp.Server{Name: "web", URL: web.URL, Headers: map[string]provider.Key{"Authorization": provider.NewKey("Bearer let-me-in")}}
	h, _ := hub(t, conf)
	before := until(t, h, ready)
	if said, err := use(t, h, "web__say_it", `{"text":"hello"}`); err != nil || said != "you said hello" {
		t.Errorf("%q, %v", said, err)
	}
	h.Use([]mcp.Server{conf})
	if s := h.Status()[0]; s != before {
		t.Errorf("a reload without a change restarted it: %+v", s)
	}
	conf.Headers = nil
	h.Use([]mcp.Server{conf})
	until(t, h, func(s mcp.Standing) bool { return s.Error != "" })
	h.Use(nil)
	if n := len(h.Status()) + len(h.Tools()); n != 0 {
		t.Error("a server that is not configured any more is still there")
	}
}

func TestAServersSettingsAreChecked(t *testing.T) {
	for _, c := range []struct {
		s    mcp.Server
		want string
	}{
		{mcp.Server{Name: "Big", Command: []string{"x"}}, "cannot name a server"},
		{mcp.Server{Name: "a"}, "a command to run, or a url"},
		{mcp.Server{Name: "a", Command: []string{"x"}, URL: "https://x"}, "both"},
		{mcp.Server{Name: "a", URL: "x"}, "absolute"},
		{mcp.Server{Name: "a", URL: "https://u:p@x"}, "headers"},
		{mcp.Server{Name: "a", URL: "http://example.org"}, "loopback"},
		{mcp.Server{Name: "a", URL: "http://127.0.0.1:1"}, ""},
		{mcp.Server{Name: "a", Command: []string{"x"}}, ""},
	} {
		err := c.s.Check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.s, err, c.want)
		}
	}
}

// A server that others have written and published, when the environment names
// its command; .ci/run does.
func TestAPublishedServer(t *testing.T) {
	command := os.Getenv("STANDIN_TEST_MCP")
	if command == "" {
		t.Skip("STANDIN_TEST_MCP does not name a server's command")
	}
	h, _ := hub(t, mcp.Server{Name: "everything", Command: strings.Fields(command)})
	s := until(t, h, ready)
	if s.Tools < 3 {
		t.Errorf("%+v", s)
	}
	if said, err := use(t, h, "everything__echo", `{"message":"hello"}`); err != nil || !strings.Contains(said, "hello") {
		t.Errorf("%q, %v", said, err)
	}
}
