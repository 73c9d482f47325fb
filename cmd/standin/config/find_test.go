package config

import (
	"strings"
	"testing"
)

// The three lines that the help for newcomers names are a config.
func TestTheThreeLinesAreAConfig(t *testing.T) {
	text := NoneFound([]string{"/x/config.yaml"})
	_, after, _ := strings.Cut(text, "\n\n  agents:")
	three, _, _ := strings.Cut("agents:"+after, "\n\n")
	if n := strings.Count(three, "\n"); n != 2 {
		t.Errorf("%d lines:\n%s", n+1, three)
	}
	c := must(t, strings.ReplaceAll(three, "\n  ", "\n"), env())
	if len(c.Plans[0].Chain) != 2 || c.Plans[0].Strict {
		t.Errorf("they should show a fallback: %+v", c.Plans)
	}
}
