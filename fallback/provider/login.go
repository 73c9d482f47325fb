package provider

import (
	"net/http"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/openai"
)

// Originator is how this program names itself to vendors and their
// authorization servers.
const Originator = userAgent

// codexURL is where OpenAI serves the models of a ChatGPT subscription. It
// speaks the Responses API with rules of its own: the system text stands in
// instructions, which must be there; answers are streamed and never stored; a
// limit of output tokens is refused; the account is named in a header. The facts
// are those of OpenAI's open-source Codex client.
const codexURL = "https://chatgpt.com/backend-api/codex"

// plainInstructions stand in where a turn has no system text.
const plainInstructions = "You are a helpful assistant."

// subscribe sends a login's call to where the vendor serves subscriptions, if it
// does so apart from its API: the same model, another address [M19]. An operator
// who put a proxy of their own in the API's place and none in the
// subscription's has the call there, as it is: no token goes around a proxy.
func (c *Call) subscribe() {
	if c.Auth != Login {
		return
	}
	known, _, _ := Known(c.Endpoint.Provider)
	own := c.Endpoint.BaseURL != "" && c.Endpoint.BaseURL != known.BaseURL
	if c.Endpoint.Provider != "openai" || own && c.Endpoint.LoginURL == "" {
		if c.Endpoint.LoginURL != "" {
			c.Endpoint.BaseURL = c.Endpoint.LoginURL
		}
		return
	}
	c.codex = true
	c.Endpoint.API, c.Endpoint.BaseURL = OpenAIResponses, codexURL
	if c.Endpoint.LoginURL != "" {
		c.Endpoint.BaseURL = c.Endpoint.LoginURL
	}
	if c.System == "" {
		c.System = plainInstructions
	}
	if c.OnText == nil {
		c.OnText = func(string) {} // it answers in streams alone
	}
}

// codexHeaders are what the subscription's address asks for beside the token.
func (c *Call) codexHeaders(to http.Header) {
	to.Set("Originator", Originator)
	to.Set("Openai-Beta", "responses=experimental")
	if c.Account != "" {
		to.Set("Chatgpt-Account-Id", c.Account)
	}
}

// codexCall moves the system text to where the subscription's address takes it.
func codexCall(c *Call, call fantasy.Call) fantasy.Call {
	if len(call.Prompt) > 0 && call.Prompt[0].Role == fantasy.MessageRoleSystem {
		call.Prompt = call.Prompt[1:]
	}
	instructions, store := c.System, false
	call.ProviderOptions = fantasy.ProviderOptions{openai.Name: &openai.ResponsesProviderOptions{Instructions: &instructions, Store: &store}}
	call.MaxOutputTokens = nil
	return call
}

// TransportError is the evidence of a request beside a call (the renewal of a
// login) that broke before there was an answer. It quotes no URL.
func TransportError(providerID string, err error) *Error {
	t, cause := transportOf(err), inner(err)
	return &Error{Provider: providerID, Transport: t, Message: cut(Redact(cause.Error()), maxMessage), Err: cause}
}
