package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rooms says who may know whom, tests apart. Imports run one way: a room that
// is not in another's list is not to be imported by it.
var rooms = map[string][]string{
	"fallback/provider":              {},
	"fallback/provider/providertest": {"fallback/provider"},
	"fallback/auth":                  {"fallback/provider"},
	"fallback/auth/authtest":         {"fallback/auth"},
	"fallback/auth/legacy":           {"fallback/provider"},
	"fallback":                       {"fallback/provider", "fallback/auth"},
	"channels":                       {},
	"channels/console":               {"channels"},
	"channels/markdown":              {},
	"channels/slack":                 {"channels", "channels/markdown"},
	"channels/slack/slacktest":       {},
	"channels/discord":               {"channels", "channels/markdown"},
	"channels/discord/discordtest":   {},
	// The wire fake as a program, for clients in other languages.
	"channels/discord/discordtest/cmd/discordfake": {"channels/discord/discordtest"},
	"channels/slack/slacktest/cmd/slackfake":       {"channels/slack/slacktest"},
	"channels/channeltest":                         {"channels"},
	"bot":                                          {"bot/policy", "bot/tools", "fallback", "fallback/provider", "channels"},
	"bot/policy":                                   {"fallback", "channels"},
	"bot/tools":                                    {"bot/netguard", "fallback", "fallback/provider", "channels"},
	"bot/netguard":                                 {},
	"bot/mcp":                                      {"bot/tools", "fallback/provider"},
	"bot/incidents":                                {"bot/netguard", "channels", "fallback/provider"},
	"bot/operator":                                 {"bot", "bot/operator/page", "bot/operator/rows", "fallback", "fallback/provider", "channels"},
	"bot/operator/rows":                            {"bot", "fallback", "channels"},
	"bot/operator/page":                            {},
	"cronjobs":                                     {"bot", "bot/netguard", "bot/tools", "fallback", "fallback/provider", "channels"},
	"heartbeat":                                    {"bot", "bot/policy", "fallback", "fallback/provider", "channels"},
	// Rows of their types, nothing else of theirs.
	"store": {"bot", "bot/incidents", "bot/operator/rows", "bot/policy", "channels", "cronjobs", "fallback", "fallback/auth", "fallback/provider", "heartbeat"},
	// Run by hand, imported by nobody; measurements put the daemon before the stand-ins.
	"scripts": {"bot", "fallback", "store", "channels/slack/slacktest", "fallback/provider", "fallback/provider/providertest"},
	// The parts of the daemon, which only cmd/standin puts together.
	"cmd/standin/config":   {"bot", "bot/incidents", "bot/netguard", "bot/mcp", "bot/operator", "bot/policy", "bot/tools", "channels", "channels/discord", "channels/slack", "cronjobs", "fallback", "fallback/auth", "fallback/provider", "heartbeat"},
	"cmd/standin/daemon":   {"bot", "bot/incidents", "bot/mcp", "bot/operator", "bot/operator/page", "bot/tools", "channels", "channels/discord", "channels/slack", "cmd/standin/config", "cmd/standin/takeover", "cronjobs", "fallback", "fallback/auth", "fallback/provider", "heartbeat", "store"},
	"cmd/standin/doctor":   {"bot", "channels/discord", "channels/slack", "cmd/standin/config", "cmd/standin/openclaw", "cmd/standin/takeover", "fallback", "fallback/provider", "store"},
	"cmd/standin/openclaw": {"cmd/standin/config", "fallback/provider"},
	"cmd/standin/takeover": {"fallback", "fallback/auth/legacy", "store"},
	// Plays the daemon instead of running it.
	"cmd/standin/rehearsal": {"bot", "bot/tools", "channels", "cmd/standin/config", "cmd/standin/daemon", "fallback", "fallback/provider", "fallback/provider/providertest", "heartbeat", "store"},
	// cmd/standin wires everything and is imported by nobody.
	"cmd/standin": {"*"},
}

// homes gives each outside library the one room that may import it.
var homes = map[string][]string{
	"database/sql":                          {"store"},
	"github.com/mattn/go-sqlite3":           {"store"},
	"charm.land/fantasy":                    {"fallback/provider"},
	"charm.land/catwalk":                    {"fallback/provider"},
	"github.com/anthropics":                 {"fallback/provider"},
	"github.com/openai":                     {"fallback/provider"},
	"github.com/bwmarrin/discordgo":         {"channels/discord"},
	"github.com/gorilla/websocket":          {"channels/slack", "channels/slack/slacktest", "channels/discord", "channels/discord/discordtest", "scripts"},
	"github.com/slack-go/slack":             {"channels/slack"},
	"github.com/modelcontextprotocol":       {"bot/mcp"},
	"golang.org/x/net/html":                 {"bot/tools"},
	"github.com/yuin/goldmark":              {"channels/markdown"},
	"github.com/rivo/uniseg":                {"channels/markdown"},
	"golang.org/x/oauth2":                   {"fallback/auth"},
	"golang.org/x/term":                     {"channels/console"},
	"github.com/charmbracelet/ultraviolet":  {"channels/console"},
	"github.com/charmbracelet/x/ansi":       {"channels/console"},
	"github.com/muesli/cancelreader":        {"channels/console"},
	"github.com/goccy/go-yaml":              {"cmd/standin/config"},
	"github.com/invopop/jsonschema":         {"cmd/standin/config", "cmd/standin/rehearsal"},
	"github.com/santhosh-tekuri/jsonschema": {"cmd/standin/config"},
	"github.com/fsnotify/fsnotify":          {"cmd/standin/daemon"},
	"github.com/prometheus/client_golang":   {"bot/operator"},
	"github.com/spf13/cobra":                {"cmd/standin"},
	"github.com/spf13/pflag":                {"cmd/standin"},
	"github.com/robfig/cron":                {"cronjobs"},
	"github.com/oklog/ulid":                 {"bot", "channels/console", "cmd/standin"}, // ids are made where things begin
}

// sourceFile is a Go file of the tree with its imports.
type sourceFile struct {
	room, name string
	imports    []string
}

// tree reads the imports of every Go file that is not a test.
func tree(t *testing.T) []sourceFile {
	t.Helper()
	root := filepath.Join("..", "..")
	var files []sourceFile
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && p != root || d.Name() == "testdata") {
			if d.Name() == ".." {
				return nil
			}
			return fs.SkipDir
		}
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		s := sourceFile{room: path.Dir(filepath.ToSlash(rel)), name: d.Name()}
		for _, i := range f.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, p)
		}
		files = append(files, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("only %d source files found: the walls are not being looked at", len(files))
	}
	return files
}

// Imports run one way: each room imports only the rooms below it.
func TestRoomsImportOneWay(t *testing.T) {
	for _, f := range tree(t) {
		allowed, known := rooms[f.room]
		if !known {
			t.Errorf("%s/%s: this room is not on the plan: add it to the map of rooms, or move the file", f.room, f.name)
			continue
		}
		for _, i := range f.imports {
			room, ours := strings.CutPrefix(i, "standin/")
			if ours && !slices.Contains(allowed, "*") && !slices.Contains(allowed, room) {
				t.Errorf("%s/%s imports %s: that wall is closed", f.room, f.name, room)
			}
		}
	}
}

// Every outside library has exactly one home, so that it can leave by one door.
func TestLibrariesHaveOneHome(t *testing.T) {
	for _, f := range tree(t) {
		for _, i := range f.imports {
			if strings.HasPrefix(i, "standin/") || !strings.Contains(strings.Split(i, "/")[0], ".") && i != "database/sql" {
				continue
			}
			home, known := homeOf(i)
			switch {
			case !known:
				t.Errorf("%s/%s imports %s: give the library a home in the map of homes and say why in docs/libraries.md", f.room, f.name, i)
			case !slices.Contains(home, f.room):
				t.Errorf("%s/%s imports %s, whose home is %v", f.room, f.name, i, home)
			}
		}
	}
}

func homeOf(library string) ([]string, bool) {
	for prefix, home := range homes {
		if library == prefix || strings.HasPrefix(library, prefix+"/") {
			return home, true
		}
	}
	return nil, false
}

// A function that takes ctx acts; in the rule book only the run*.go files do.
func TestOnlyRunActsInFallback(t *testing.T) {
	for _, f := range tree(t) {
		if f.room == "fallback" && slices.Contains(f.imports, "context") && !strings.HasPrefix(f.name, "run") {
			t.Errorf("fallback/%s imports context: deciders take now, not ctx", f.name)
		}
	}
}
