package provider

import (
	"context"
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
			if block.Type == "text" {
				a.text.WriteString(block.Text)
			}
		}
		a.finish = string(msg.StopReason)
		a.tokens = usageOf(msg.Usage.InputTokens, msg.Usage.CacheReadInputTokens, msg.Usage.CacheCreationInputTokens, msg.Usage.OutputTokens)
		return nil
	}

	stream := service.NewStreaming(ctx, params)
	defer func() { _ = stream.Close() }()
	ended := false
	for stream.Next() {
		switch event := stream.Current(); event.Type {
		case "message_start":
			u := event.Message.Usage
			a.tokens = usageOf(u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens)
		case "content_block_delta":
			a.say(event.Delta.Text)
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
	for _, m := range c.Messages {
		if m.Text == "" { // this vendor refuses empty text
			continue
		}
		block := anthropic.NewTextBlock(m.Text)
		if m.Role == Assistant {
			p.Messages = append(p.Messages, anthropic.NewAssistantMessage(block))
		} else {
			p.Messages = append(p.Messages, anthropic.NewUserMessage(block))
		}
	}
	return p
}
