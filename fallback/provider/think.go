package provider

import (
	"slices"
	"strings"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/openai"
	"charm.land/fantasy/providers/openaicompat"
	"github.com/anthropics/anthropic-sdk-go"
)

// Effort is how much a model thinks before it answers. Vendors have words of
// their own for it, and not every model has every word: the nearest is sent. A
// model that is not known to think is sent nothing.
type Effort string

// The efforts, in rising order. "" leaves it to the vendor.
const (
	EffortOff     Effort = "off"
	EffortMinimal Effort = "minimal"
	EffortLow     Effort = "low"
	EffortMedium  Effort = "medium"
	EffortHigh    Effort = "high"
	EffortXHigh   Effort = "xhigh"
	EffortMax     Effort = "max"
)

// Efforts are all of them, in rising order.
func Efforts() []Effort {
	return []Effort{EffortOff, EffortMinimal, EffortLow, EffortMedium, EffortHigh, EffortXHigh, EffortMax}
}

// ParseEffort reads an effort as people write it, in any case; ok is false for
// any other word.
func ParseEffort(word string) (e Effort, ok bool) {
	e = Effort(strings.ToLower(strings.TrimSpace(word)))
	switch e {
	case "none":
		e = EffortOff
	case "min":
		e = EffortMinimal
	case "on":
		e = EffortLow
	case "mid":
		e = EffortMedium
	}
	return e, slices.Contains(Efforts(), e)
}

// budgets are what an effort comes to for models that are told tokens, as Claude
// models before 4.6 are.
var budgets = map[Effort]int64{EffortMinimal: 1024, EffortLow: 2048, EffortMedium: 8192, EffortHigh: 16384, EffortXHigh: 24576, EffortMax: 32000}

// among gives the word of a vendor's list that is nearest to e, the lower one of
// two; "" for an empty list. Only a list with none can switch thinking off.
func (e Effort) among(levels []string) string {
	if e == EffortOff && slices.Contains(levels, "none") {
		return "none"
	}
	all := Efforts()
	best, far := "", len(all)
	for _, l := range levels { // catalogues list them in rising order
		at := slices.Index(all, Effort(l))
		if at < 0 {
			continue
		}
		if d := max(at-slices.Index(all, e), slices.Index(all, e)-at); d < far {
			best, far = l, d
		}
	}
	return best
}

// thinkAnthropic puts the effort into a request. A model that is in the middle of
// its work with tools is asked without it: this vendor wants the thoughts of such
// a turn back, which are not kept.
func thinkAnthropic(c *Call, p *anthropic.MessageNewParams) {
	k := catalogOf(c.Endpoint.Provider)[c.Model]
	if c.Think == "" || c.Think == EffortOff || !k.thinks || len(c.Messages) > 0 && len(c.Messages[len(c.Messages)-1].Results) > 0 {
		return
	}
	if slices.Contains(k.levels, string(EffortMax)) { // it decides by itself, and takes a word
		p.Thinking = anthropic.ThinkingConfigParamUnion{OfAdaptive: &anthropic.ThinkingConfigAdaptiveParam{}}
		p.OutputConfig = anthropic.OutputConfigParam{Effort: anthropic.OutputConfigEffort(c.Think.among(k.levels))}
		return
	}
	budget := budgets[c.Think]
	p.Thinking = anthropic.ThinkingConfigParamOfEnabled(budget)
	p.MaxTokens += budget // the answer keeps the room that it has without
}

// thinkOpenAI is the same for OpenAI's protocols.
func thinkOpenAI(c *Call, call *fantasy.Call) {
	word := ""
	if c.Think != "" {
		word = c.Think.among(catalogOf(c.Endpoint.Provider)[c.Model].levels)
	}
	if word == "" {
		return
	}
	effort := openai.ReasoningEffort(word)
	if c.Endpoint.API != OpenAIResponses && !c.codex {
		call.ProviderOptions = fantasy.ProviderOptions{openaicompat.Name: &openaicompat.ProviderOptions{ReasoningEffort: &effort}}
		return
	}
	options, has := call.ProviderOptions[openai.Name].(*openai.ResponsesProviderOptions)
	if !has {
		options = &openai.ResponsesProviderOptions{}
		call.ProviderOptions = fantasy.ProviderOptions{openai.Name: options}
	}
	options.ReasoningEffort = &effort
}
