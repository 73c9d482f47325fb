package main

import (
	"fmt"
	"io"
	"strings"

	"standin/cmd/standin/config"
	"standin/fallback"
)

// printImages writes who looks at pictures where an agent's own model cannot
// [M34]; nothing without image models.
func printImages(w io.Writer, c *config.Compiled) {
	chain := fallback.ImageChain(c.Fallback, fallback.Model{})
	if len(chain) == 0 {
		return
	}
	fmt.Fprintf(w, "pictures: %s\n", config.ChainText(chain, " → "))
	var blind, sees []string
	for _, p := range c.Plans {
		if c.Fallback.FactsOf(p.Chain[0]).Images {
			sees = append(sees, string(p.ID))
		} else {
			blind = append(blind, string(p.ID))
		}
	}
	if len(blind) > 0 {
		fmt.Fprintf(w, "    for %s, whose own model cannot be shown any\n", strings.Join(blind, ", "))
	}
	if len(sees) > 0 {
		fmt.Fprintf(w, "    not for %s, whose own model sees\n", strings.Join(sees, ", "))
	}
	fmt.Fprintln(w)
}
