package rehearsal

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"standin/bot/tools"
	"standin/cmd/standin/config"
	"standin/fallback/provider"
)

// ruleTool is what a rule's model asks for (R6).
type ruleTool struct {
	name, args string
	id         string // begins the ids of its calls
}

// readTool reads a rule's tool.
func (s *scriptReader) readTool(k *toolKeys, n int, p config.Path) *ruleTool {
	args := strings.TrimSpace(string(k.Args.RawMessage))
	if args == "" || args == "null" {
		args = "{}"
	}
	if at := p.Key("args"); args[0] != '{' {
		s.report(at, "is no object", "write the tool's input as {key: value}")
	}
	return &ruleTool{name: k.Name, args: args, id: fmt.Sprintf("call_%d_", n)}
}

// calls is the answer that asks for the tool.
func (t *ruleTool) calls(c *provider.Call) []provider.ToolCall {
	return []provider.ToolCall{{ID: fmt.Sprintf("%s%d", t.id, len(c.Messages)), Name: t.name, Input: t.args}}
}

// asked tells whether the turn that a call belongs to has asked for the tool
// already: without times a rule has its model ask once in a turn, and then go on.
func (t *ruleTool) asked(c *provider.Call) bool {
	for i := len(c.Messages) - 1; i >= 0; i-- {
		m := c.Messages[i]
		if m.Role == provider.User && len(m.Results) == 0 {
			return false
		}
		for _, call := range m.Calls {
			if strings.HasPrefix(call.ID, t.id) {
				return true
			}
		}
	}
	return false
}

// played are the tools that a rehearsal has nobody for: those of servers, the web,
// jobs. They reach nothing and give back a word; all but a look at the web count
// as acts, as a tool does that does not say that it only reads [I8].
func (r *rehearsal) played() []tools.Tool {
	var list []tools.Tool
	seen := map[string]bool{}
	for _, t := range append(tools.Workspace(), tools.Memory()...) {
		seen[t.Name] = true
	}
	for _, rule := range r.rules {
		if rule.tool == nil || seen[rule.tool.name] {
			continue
		}
		seen[rule.tool.name] = true
		web := rule.tool.name == "web_fetch"
		list = append(list, tools.Tool{
			Name: rule.tool.name, Description: "played by the rehearsal", Schema: `{"type":"object"}`, Acts: !web, Foreign: web,
			Run: func(context.Context, tools.Place, json.RawMessage) (tools.Result, error) { return tools.Say("ok") },
		})
	}
	return list
}

// house gives the agents of a config workspaces of the rehearsal's own: what a
// tool writes in a rehearsal is not written into the operator's folders.
func (s *stage) house(c *config.Compiled) *config.Compiled {
	for id, agent := range c.Bot.Agents {
		agent.Workspace = filepath.Join(s.dir, "workspace-"+string(id))
		c.Bot.Agents[id] = agent
	}
	return c
}
