package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"standin/fallback"
	"standin/fallback/provider"
)

// modelEntry is a model of a provider [G13]: its id, plain or in an object with
// what is to be known of it.
type modelEntry struct{ modelKeys }

type modelKeys struct {
	ID            string    `json:"id" jsonschema:"required,minLength=1" jsonschema_description:"The vendor's id of the model."`
	ContextWindow int64     `json:"contextWindow,omitempty" jsonschema:"minimum=1000,maximum=100000000" jsonschema_description:"How much one request may hold, in tokens, its answer included. Default: as the catalogue has it."`
	MaxTokens     int64     `json:"maxTokens,omitempty" jsonschema:"minimum=1,maximum=100000000" jsonschema_description:"How long its answers may be, in tokens. Default: as the catalogue has it."`
	Cost          *costKeys `json:"cost,omitempty" jsonschema_description:"What a million tokens cost, in USD. Default: as the catalogue has it. {input: 0, output: 0} says that it is free."`
	Tools         *bool     `json:"tools,omitempty" jsonschema:"default=true" jsonschema_description:"Whether it is offered tools. A model whose vendor refuses a request because of them is asked without them by itself."`
	Input         []string  `json:"input,omitempty" jsonschema_description:"What it can be shown: text, image. Default: as the catalogue has it."`
}

type costKeys struct {
	Input      float64 `json:"input" jsonschema:"required,minimum=0,maximum=100000" jsonschema_description:"A million tokens of what is sent."`
	Output     float64 `json:"output" jsonschema:"required,minimum=0,maximum=100000" jsonschema_description:"A million tokens of answers."`
	CacheRead  float64 `json:"cacheRead,omitempty" jsonschema:"minimum=0,maximum=100000" jsonschema_description:"Of what the vendor had kept from before. Default: as input."`
	CacheWrite float64 `json:"cacheWrite,omitempty" jsonschema:"minimum=0,maximum=100000" jsonschema_description:"Of what it keeps. Default: as input."`
}

// UnmarshalJSON reads both forms.
func (m *modelEntry) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, &m.ID)
	}
	return json.Unmarshal(data, &m.modelKeys)
}

// JSONSchema describes both forms.
func (modelEntry) JSONSchema() *jsonschema.Schema {
	one := uint64(1)
	o := reflectSchema(&modelKeys{})
	o.Version = ""
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		{Type: "string", MinLength: &one, Description: "The vendor's id of the model."}, o,
	}}
}

// modalities are what models may take in (input).
var modalities = []string{"text", "image"}

// readFacts keeps what the entries of a provider's list say of its models.
func (c *compiler) readFacts(id string, entries []modelEntry, at Path) {
	for i, e := range entries {
		p, m := c.item(at, i), fallback.Model{Provider: id, Name: strings.TrimPrefix(e.ID, id+"/")}
		f := provider.Facts{Window: e.ContextWindow, MaxOutput: e.MaxTokens, Images: slices.Contains(e.Input, "image"), NoTools: e.Tools != nil && !*e.Tools}
		if k := e.Cost; k != nil {
			f.Price = provider.Price{Input: k.Input, Output: k.Output, CacheRead: k.CacheRead, CacheWrite: k.CacheWrite, Priced: true}
		}
		for j, word := range e.Input {
			if !slices.Contains(modalities, word) {
				q := c.item(p.Key("input"), j)
				c.report(q, fmt.Sprintf("%s is nothing that a model can be shown", c.shown(q, word)), "write text, image, or both")
			}
		}
		if e.Input != nil && !f.Images {
			c.blind[m] = true
		}
		if e.MaxTokens > 0 && e.ContextWindow > 0 && e.MaxTokens > e.ContextWindow {
			c.report(p.Key("maxTokens"), "is more than contextWindow, which holds the answer too", "")
		}
		if f != (provider.Facts{}) {
			c.facts[m] = f
		}
	}
}
