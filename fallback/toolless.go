package fallback

import (
	"errors"
	"strings"
	"sync"
	"time"

	"standin/fallback/provider"
)

// toollessFor is how long a model counts as one that takes no tools after its
// vendor has said so: servers learn to, and models are replaced under a name.
const toollessFor = 6 * time.Hour

// Toolless remembers the models that take no tools, so that not every turn pays
// for being told again. Memory only, gone at restart. The zero value is ready; it
// is safe for concurrent use.
type Toolless struct {
	mu    sync.Mutex
	until map[Model]time.Time
}

// Mark notes at now that the model takes no tools.
func (t *Toolless) Mark(m Model, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for old, until := range t.until {
		if !now.Before(until) {
			delete(t.until, old)
		}
	}
	t.until = put(t.until, m, now.Add(toollessFor))
}

// Is tells whether the model takes no tools, as far as is known at now.
func (t *Toolless) Is(m Model, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return now.Before(t.until[m])
}

// toolWords are how servers say that a model, or the way it is run, takes no tools.
var toolWords = say(
	"not|doesnt|dont|cannot support tools", // Ollama
	"not|doesnt|dont|cannot support tool|function use|using|usage|call|calls|calling",
	"no endpoints .. support tool use", // OpenRouter
	"tool|function use|call|calls|calling is|are not supported|enabled|available", "tool|function use|call|calls|calling isnt|arent supported|enabled|available",
	"tools|functions is|are not supported", "tools|functions isnt|arent supported",
	"not supported for tool|function use|calling",
	"tool choice requires enable auto tool choice", // vLLM
	"tools param requires jinja",                   // llama.cpp
	"unsupported|unknown|unrecognized parameter: tools|functions|tool_choice",
)

// refusesTools tells whether a vendor refused a request because there were tools
// in it. Nothing of an answer had come by then.
func refusesTools(err error) bool {
	var e *provider.Error
	if !errors.As(err, &e) || e.Streamed || e.Status < 400 || e.Status == 429 {
		return false
	}
	f := newFacts(SignalOf(err))
	return toolWords(f, f.message) != "" || toolWords(f, f.details) != ""
}

// withoutTools is a conversation for a model that takes no tools: what was said,
// without what was used. What one side then says in a row becomes one message,
// for not every vendor takes two.
func withoutTools(talk []provider.Message) []provider.Message {
	plain := make([]provider.Message, 0, len(talk))
	for _, m := range talk {
		m.Calls, m.Results = nil, nil
		if m.Text == "" && len(m.Images) == 0 {
			continue
		}
		if n := len(plain); n > 0 && plain[n-1].Role == m.Role {
			last := &plain[n-1]
			last.Text = strings.TrimSpace(last.Text + "\n\n" + m.Text)
			last.Images = append(append([]provider.Image(nil), last.Images...), m.Images...)
			continue
		}
		plain = append(plain, m)
	}
	return plain
}
