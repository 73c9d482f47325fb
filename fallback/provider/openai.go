package provider

import (
	"context"
	"errors"
	"net/http"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/openai"
	"charm.land/fantasy/providers/openaicompat"
	openaisdk "github.com/openai/openai-go/v3"
)

// speakOpenAI asks over Chat Completions or Responses, through the language
// models of fantasy. It switches the SDK's retries off by itself [D13e].
func speakOpenAI(ctx context.Context, client *http.Client, a *answer) error {
	model, err := openAIModel(ctx, client, a)
	if err != nil {
		return err
	}
	call := fantasyCall(a.call)
	if a.call.OnText == nil {
		return a.generate(ctx, model, call)
	}
	parts, err := model.Stream(ctx, call)
	if err != nil {
		return err
	}
	for part := range parts {
		switch part.Type {
		case fantasy.StreamPartTypeTextDelta:
			a.say(part.Delta)
		case fantasy.StreamPartTypeReasoningDelta, fantasy.StreamPartTypeToolInputDelta:
			a.think(part.Delta)
		case fantasy.StreamPartTypeToolCall:
			if !part.ProviderExecuted {
				a.asks(part.ID, part.ToolCallName, part.ToolCallInput)
			}
		case fantasy.StreamPartTypeFinish:
			a.finished(part.FinishReason, part.Usage)
		case fantasy.StreamPartTypeError:
			return part.Error
		}
	}
	return nil
}

func (a *answer) generate(ctx context.Context, model fantasy.LanguageModel, call fantasy.Call) error {
	resp, err := model.Generate(ctx, call)
	var none *fantasy.Error
	if errors.As(err, &none) && none.Title == "no response" {
		return nil // a well-formed answer without a choice is empty; the caller judges that [M26]
	}
	if err != nil {
		return err
	}
	for _, part := range resp.Content {
		if t, ok := fantasy.AsContentType[fantasy.TextContent](part); ok {
			a.text.WriteString(t.Text)
		}
		if t, ok := fantasy.AsContentType[fantasy.ToolCallContent](part); ok && !t.ProviderExecuted {
			a.asks(t.ToolCallID, t.ToolName, t.Input)
		}
	}
	a.finished(resp.FinishReason, resp.Usage)
	return nil
}

// openAIModel makes the model of one call. The key is a placeholder: the seam
// sets the real one, and a value here keeps the SDK from taking one out of the
// environment.
func openAIModel(ctx context.Context, client *http.Client, a *answer) (fantasy.LanguageModel, error) {
	var (
		vendor fantasy.Provider
		err    error
	)
	if a.call.Endpoint.API == OpenAIResponses {
		vendor, err = openai.New(
			openai.WithBaseURL(a.call.Endpoint.BaseURL),
			openai.WithAPIKey(placeholder),
			openai.WithHTTPClient(client),
			openai.WithUseResponsesAPI(),
			openai.WithResponsesAPIFunc(func(string) bool { return true }),
		)
	} else {
		vendor, err = openaicompat.New(
			openaicompat.WithBaseURL(a.call.Endpoint.BaseURL),
			openaicompat.WithAPIKey(placeholder),
			openaicompat.WithHTTPClient(client),
			openaicompat.WithLanguageModelOptions(
				openai.WithLanguageModelMapFinishReasonFunc(verbatim),
				openai.WithLanguageModelStreamUsageFunc(a.streamUsage),
			),
		)
	}
	if err != nil {
		return nil, err
	}
	return vendor.LanguageModel(ctx, a.call.Model)
}

const placeholder = "set-by-the-seam"

// verbatim keeps the vendor's own stop reason, which fantasy would map.
func verbatim(reason string) fantasy.FinishReason { return fantasy.FinishReason(reason) }

// streamUsage keeps the usage of whichever chunk brings one: vendors send it
// last, with the last choice, or with each chunk.
func (a *answer) streamUsage(chunk openaisdk.ChatCompletionChunk, extra map[string]any, meta fantasy.ProviderMetadata) (fantasy.Usage, fantasy.ProviderMetadata) {
	usage, meta := openai.DefaultStreamUsageFunc(chunk, extra, meta)
	if usage.TotalTokens != 0 {
		a.tokens = tokensOf(usage)
	}
	return usage, meta
}

// finished takes what fantasy says at the end.
func (a *answer) finished(reason fantasy.FinishReason, usage fantasy.Usage) {
	a.finish = string(reason)
	if a.call.Endpoint.API == OpenAIResponses {
		a.finish = responsesFinish(reason)
	}
	if t := tokensOf(usage); t != (Tokens{}) {
		a.tokens = t
	}
}

// responsesFinish turns fantasy's word back into the vendor's: the Responses
// API has a status, and a reason only when it is incomplete.
func responsesFinish(reason fantasy.FinishReason) string {
	switch reason {
	case fantasy.FinishReasonStop:
		return "completed"
	case fantasy.FinishReasonLength:
		return "max_output_tokens"
	case fantasy.FinishReasonContentFilter:
		return "content_filter"
	}
	return string(reason)
}

// tokensOf counts cached prompt tokens as input again: fantasy takes them out.
func tokensOf(u fantasy.Usage) Tokens {
	return Tokens{
		Input:      u.InputTokens + u.CacheReadTokens + u.CacheCreationTokens,
		Output:     u.OutputTokens,
		CacheRead:  u.CacheReadTokens,
		CacheWrite: u.CacheCreationTokens,
	}
}

// fantasyCall words a Call for fantasy. Empty messages are left out: vendors
// refuse them, and they say nothing.
func fantasyCall(c *Call) fantasy.Call {
	prompt := make(fantasy.Prompt, 0, len(c.Messages)+1)
	if c.System != "" {
		prompt = append(prompt, fantasy.NewSystemMessage(c.System))
	}
	for _, m := range c.Messages {
		if m.says() {
			prompt = append(prompt, fantasyMessages(m)...)
		}
	}
	call := fantasy.Call{Prompt: prompt}
	for _, t := range c.Tools {
		call.Tools = append(call.Tools, fantasy.FunctionTool{Name: t.Name, Description: t.Description, InputSchema: t.schema()})
	}
	if c.MaxTokens > 0 {
		limit := int64(c.MaxTokens)
		call.MaxOutputTokens = &limit
	}
	if c.codex {
		call = codexCall(c, call)
	}
	thinkOpenAI(c, &call)
	return call
}

// fantasyMessages words one message. Results are messages of their own in these
// protocols, and stand in front of what the user says beside them.
func fantasyMessages(m Message) (all []fantasy.Message) {
	for _, r := range m.Results {
		var output fantasy.ToolResultOutputContent = fantasy.ToolResultOutputContentText{Text: r.Text}
		if r.Failed {
			output = fantasy.ToolResultOutputContentError{Error: errors.New(r.Text)}
		}
		all = append(all, fantasy.Message{Role: fantasy.MessageRoleTool,
			Content: []fantasy.MessagePart{fantasy.ToolResultPart{ToolCallID: r.ID, Output: output}}})
	}
	role := fantasy.MessageRoleUser
	if m.Role == Assistant {
		role = fantasy.MessageRoleAssistant
	}
	var parts []fantasy.MessagePart
	if m.Text != "" {
		parts = append(parts, fantasy.TextPart{Text: m.Text})
	}
	for _, i := range m.Images {
		parts = append(parts, fantasy.FilePart{Data: i.Data, MediaType: i.Type})
	}
	for _, c := range m.Calls {
		parts = append(parts, fantasy.ToolCallPart{ToolCallID: c.ID, ToolName: c.Name, Input: string(c.input())})
	}
	if len(parts) > 0 {
		all = append(all, fantasy.Message{Role: role, Content: parts})
	}
	return all
}
