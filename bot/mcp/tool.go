package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"standin/bot/tools"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// longest is what vendors allow for a tool's name.
const longest = 64

var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// tool makes one of ours of a server's; ok is false for those that config leaves
// out. Names are the server's and the tool's, so that two servers may both have a
// search. A tool that does not say that it only reads is taken to act [I8].
func (r *running) tool(session *sdk.ClientSession, t *sdk.Tool) (tools.Tool, bool) {
	if (tools.Policy{Allow: r.Allow, Deny: r.Deny}).Refuse(tools.Tool{Name: t.Name}, tools.Place{}) != "" {
		return tools.Tool{}, false
	}
	schema, err := json.Marshal(t.InputSchema)
	if err != nil || string(schema) == "null" {
		schema = []byte(`{"type":"object"}`)
	}
	name := notInNames.ReplaceAllString(r.Name+"__"+t.Name, "_")
	if len(name) > longest {
		name = name[:longest]
	}
	return tools.Tool{
		Name: name, Description: r.hide(describe(r.Name, t)), Schema: string(schema),
		Acts:    t.Annotations == nil || !t.Annotations.ReadOnlyHint,
		Owner:   !r.Everyone,
		Private: !r.Everyone,
		Foreign: !r.Trusted,
		Domain:  "mcp:" + r.Name,
		Run: func(ctx context.Context, _ tools.Place, input json.RawMessage) (tools.Result, error) {
			if r.Call > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, r.Call)
				defer cancel()
			}
			return r.use(ctx, session, t.Name, input)
		},
	}, true
}

// describe is what the model is told of a tool. A server writes it, so it is
// bounded and says whose it is.
func describe(server string, t *sdk.Tool) string {
	text := strings.TrimSpace(t.Description)
	if len(text) > 1000 {
		text = strings.ToValidUTF8(text[:1000], "") + "…"
	}
	return "From " + server + ": " + text
}

func (r *running) use(ctx context.Context, session *sdk.ClientSession, name string, input json.RawMessage) (tools.Result, error) {
	res, err := session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: input})
	if err != nil {
		return tools.Result{}, fmt.Errorf("the server did not answer: %s", r.hide(err.Error()))
	}
	text := r.hide(textOf(res))
	if res.IsError {
		return tools.Result{}, errors.New(text)
	}
	return tools.Say("%s", text)
}

// textOf is what a model can read of a result.
func textOf(res *sdk.CallToolResult) string {
	var parts []string
	for _, c := range res.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			parts = append(parts, c.Text)
		case *sdk.ImageContent:
			parts = append(parts, fmt.Sprintf("[an image, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *sdk.AudioContent:
			parts = append(parts, fmt.Sprintf("[a sound, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *sdk.ResourceLink:
			parts = append(parts, fmt.Sprintf("[%s: %s]", c.Name, c.URI))
		case *sdk.EmbeddedResource:
			if c.Resource != nil && c.Resource.Text != "" {
				parts = append(parts, c.Resource.Text)
			}
		}
	}
	if len(parts) == 0 && res.StructuredContent != nil {
		if b, err := json.Marshal(res.StructuredContent); err == nil {
			parts = append(parts, string(b))
		}
	}
	if len(parts) == 0 {
		return "(done, without words)"
	}
	return strings.Join(parts, "\n")
}
