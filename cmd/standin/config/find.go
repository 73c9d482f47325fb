package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// StateDir is where the daemon keeps its databases [D15].
func StateDir(getenv func(string) string) string {
	if dir := getenv("STANDIN_STATE_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(getenv("HOME"), ".standin")
}

// Find gives the config file to use: the flag, STANDIN_CONFIG, that of the state
// folder dir, the working folder's [D16]. The first two are taken as they are,
// there or not. path is "" when there is none; tried says where it was looked for.
func Find(flag, dir string, getenv func(string) string) (path string, tried []string) {
	if flag != "" {
		return flag, []string{flag}
	}
	if named := getenv("STANDIN_CONFIG"); named != "" {
		return named, []string{named}
	}
	for _, p := range []string{filepath.Join(dir, "config.yaml"), "config.yaml"} {
		tried = append(tried, p)
		if info, err := os.Stat(p); err == nil && !info.IsDir() {
			return p, tried
		}
	}
	return "", tried
}

// NoneFound tells a person who has no config file what the smallest one holds
// and where to put it.
func NoneFound(tried []string) string {
	var b strings.Builder
	b.WriteString("There is no config file yet. Looked for:\n")
	for _, p := range tried {
		fmt.Fprintf(&b, "  %s\n", p)
	}
	fmt.Fprintf(&b, `
Three lines are enough. Put them into %s:

  agents:
    defaults:
      model: {primary: openai/gpt-5.5, fallbacks: [anthropic/claude-sonnet-5]}

Then give each vendor's key in its usual variable, and look at the result:

  export OPENAI_API_KEY=…      # from platform.openai.com/api-keys
  export ANTHROPIC_API_KEY=…   # from platform.claude.com
  standin check

config.example.yaml shows every key with its default. To see it work without
any account: standin demo
`, tried[0])
	return b.String()
}
