package daemon

import (
	"context"
	"os"
	"path/filepath"

	"standin/bot"
	"standin/bot/mcp"
	"standin/bot/tools"
	"standin/cmd/standin/config"
	"standin/cronjobs"
)

// toolRoom is what agents may do beside the bot's own tools: files of their
// workspace, memory, the web, and what servers bring along.
type toolRoom struct {
	hub *mcp.Hub
	own []tools.Tool
}

// newToolRoom gives the tools of a config; hub is nil where nothing is run.
func newToolRoom(c *config.Compiled, hub *mcp.Hub) *toolRoom {
	r := &toolRoom{hub: hub, own: append(tools.Workspace(), tools.Memory()...)}
	if c.Web.On {
		r.own = append(r.own, tools.WebFetch(c.Web.Hosts))
	}
	return r
}

// all gives them in a stable order: prompts stay the same for vendors' caches.
func (r *toolRoom) all() []tools.Tool {
	if r == nil || r.hub == nil {
		return nil
	}
	return append(append([]tools.Tool(nil), r.own...), r.hub.Tools()...)
}

// agentTools are those that the bot has beside its own.
func (a *App) agentTools() []tools.Tool {
	if s := a.parts.Staging; s != nil {
		return append(append(tools.Workspace(), tools.Memory()...), s.Tools...)
	}
	all := a.tools.Load().all()
	if a.jobs != nil {
		all = append(all, cronjobs.Tool(a.JobBook, a.jobs))
	}
	return all
}

// promises keeps what was promised in passing; a rehearsal has no jobs.
func (a *App) promises() bot.Promises {
	if a.parts.Staging != nil {
		return nil
	}
	return cronjobs.Keeper{Book: a.JobBook, Nudge: func() { a.jobs.Nudge() }}
}

// Skip says that the clock was moved ahead on purpose: what came due runs now.
func (a *App) Skip() {
	if a.jobs != nil {
		a.jobs.Skip()
	}
}

// newHub wires what keeps servers of tools running. Nothing runs before startTools.
func (a *App) newHub() *mcp.Hub {
	return mcp.New(mcp.Options{Version: Version(), Environ: a.parts.Environ, Log: a.parts.Log, Now: a.parts.Now, Sleep: a.parts.Sleep})
}

// startTools brings up what the config's tools need: the agents' folders and the
// servers. Called again with another config it changes over.
func (a *App) startTools(c *config.Compiled) {
	if a.hub == nil {
		return
	}
	a.tools.Store(newToolRoom(c, a.hub))
	a.hub.Use(c.Servers)
	if !c.Bot.Tools.On {
		return
	}
	for id, agent := range c.Bot.Agents {
		// A relative one has no home that anybody chose.
		if !filepath.IsAbs(agent.Workspace) {
			continue
		}
		if err := os.MkdirAll(agent.Workspace, 0o700); err != nil {
			a.parts.Log.Warn("the agent's workspace cannot be made; its file tools will fail", "agent", id, "err", err)
		}
	}
}

// closeTools ends the servers.
func (a *App) closeTools(ctx context.Context) error { return a.hub.Close(ctx) }

// Servers tells how the servers of tools are.
func (a *App) Servers() []mcp.Standing {
	if a.hub == nil {
		return nil
	}
	return a.hub.Status()
}
