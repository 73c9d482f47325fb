package provider

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// anthropicMaxTokens is sent when a Call sets no limit: this vendor asks for one.
const anthropicMaxTokens = 8192

// unbounded is given where the SDK wants a time of its own: without one it
// refuses large answers that are not streamed. Limits bound a call.
const unbounded = 10 * 365 * 24 * time.Hour

// speakMessages asks over Anthropic's Messages API with the vendor's SDK. The
// service is made by itself, not by the SDK's client: only the client reads
// the environment and the credential files of other programs.
func speakMessages(ctx context.Context, client *http.Client, a *answer) error {
	service := anthropic.NewMessageService(
		option.WithBaseURL(a.call.Endpoint.BaseURL),
		option.WithHTTPClient(client),
		option.WithMaxRetries(0), // [D13e]
	)
	params := messagesParams(a.call)
	if a.call.OnText == nil {
		msg, err := service.New(ctx, params, option.WithRequestTimeout(unbounded))
		if err != nil {
			return err
		}
		for _, block := range msg.Content {
			switch block.Type {
			case "text":
				a.text.WriteString(block.Text)
			case "tool_use":
				a.asks(block.ID, block.Name, string(block.Input))
			}
		}
		a.finish = string(msg.StopReason)
		a.tokens = usageOf(msg.Usage.InputTokens, msg.Usage.CacheReadInputTokens, msg.Usage.CacheCreationInputTokens, msg.Usage.OutputTokens)
		return nil
	}

	stream := service.NewStreaming(ctx, params)
	defer func() { _ = stream.Close() }()
	ended := false
	var asked ToolCall // whose input is being told
	for stream.Next() {
		switch event := stream.Current(); event.Type {
		case "message_start":
			u := event.Message.Usage
			a.tokens = usageOf(u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens)
		case "content_block_start":
			if b := event.ContentBlock; b.Type == "tool_use" {
				asked = ToolCall{ID: b.ID, Name: b.Name}
				a.think(b.Name)
			}
		case "content_block_stop":
			if asked.ID != "" {
				a.asks(asked.ID, asked.Name, asked.Input)
				asked = ToolCall{}
			}
		case "content_block_delta":
			a.say(event.Delta.Text)
			asked.Input += event.Delta.PartialJSON
			a.think(event.Delta.Thinking + event.Delta.PartialJSON)
		case "message_delta":
			if event.Delta.StopReason != "" {
				a.finish = string(event.Delta.StopReason)
			}
			a.tokens.Output = max(a.tokens.Output, event.Usage.OutputTokens)
		case "message_stop":
			ended = true
		}
	}
	if err := stream.Err(); err != nil {
		return err
	}
	if !ended { // the SDK takes a cut stream for a finished one
		return io.ErrUnexpectedEOF
	}
	return nil
}

// usageOf counts cached prompt tokens as input: this vendor counts them apart.
func usageOf(input, cacheRead, cacheWrite, output int64) Tokens {
	return Tokens{Input: input + cacheRead + cacheWrite, Output: output, CacheRead: cacheRead, CacheWrite: cacheWrite}
}

func messagesParams(c *Call) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{Model: anthropic.Model(c.Model), MaxTokens: anthropicMaxTokens}
	if c.MaxTokens > 0 {
		p.MaxTokens = int64(c.MaxTokens)
	}
	if c.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: c.System}}
	}
	for _, t := range c.Tools {
		tree := t.schema()
		schema := anthropic.ToolInputSchemaParam{Properties: tree["properties"], ExtraFields: map[string]any{}}
		for key, value := range tree {
			switch key {
			case "type", "properties":
			default:
				schema.ExtraFields[key] = value
			}
		}
		tool := anthropic.ToolParam{Name: t.Name, InputSchema: schema}
		if t.Description != "" {
			tool.Description = anthropic.String(t.Description)
		}
		p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfTool: &tool})
	}
	for _, m := range c.Messages {
		blocks := messageBlocks(m)
		switch {
		case len(blocks) == 0: // this vendor refuses empty messages
		case m.Role == Assistant:
			p.Messages = append(p.Messages, anthropic.NewAssistantMessage(blocks...))
		default:
			p.Messages = append(p.Messages, anthropic.NewUserMessage(blocks...))
		}
	}
	thinkAnthropic(c, &p)
	return p
}

// messageBlocks words one message; results stand in front of what is said, as
// this vendor asks.
func messageBlocks(m Message) (blocks []anthropic.ContentBlockParamUnion) {
	for _, r := range m.Results {
		blocks = append(blocks, anthropic.NewToolResultBlock(r.ID, r.Text, r.Failed))
	}
	for _, i := range m.Images {
		blocks = append(blocks, anthropic.NewImageBlockBase64(i.Type, base64.StdEncoding.EncodeToString(i.Data)))
	}
	if m.Text != "" {
		blocks = append(blocks, anthropic.NewTextBlock(m.Text))
	}
	for _, c := range m.Calls {
		blocks = append(blocks, anthropic.NewToolUseBlock(c.ID, c.input(), c.Name))
	}
	return blocks
}
