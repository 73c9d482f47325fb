package providertest

import (
	"encoding/json"
	"strings"

	"standin/fallback/provider"
)

// Envelope words an error body the way the vendor of an endpoint does. Fields
// that are "" are null or absent; nothing is added to what is given.
func Envelope(e provider.Endpoint, status int, kind, code, message string) string {
	if e.API == "" {
		known, _, _ := provider.Known(e.Provider)
		e.API = known.API
	}
	switch {
	case e.API == provider.AnthropicMessages:
		type inner struct {
			Type    string `json:"type,omitempty"`
			Code    string `json:"code,omitempty"`
			Message string `json:"message"`
		}
		return encode(struct {
			Type  string `json:"type"`
			Error inner  `json:"error"`
		}{"error", inner{kind, code, message}})
	case e.Provider == "google":
		type inner struct {
			Code    int    `json:"code,omitempty"`
			Message string `json:"message"`
			Status  string `json:"status,omitempty"`
		}
		if code == "" {
			code = strings.ToUpper(kind)
		}
		return encode([]struct {
			Error inner `json:"error"`
		}{{inner{status, message, code}}})
	}
	type inner struct {
		Message string  `json:"message"`
		Type    *string `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	return encode(struct {
		Error inner `json:"error"`
	}{inner{message, orNull(kind), nil, orNull(code)}})
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func encode(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// standard gives the type and code that the two vendors of a Stage send with a
// status, as their documents list them.
func standard(api provider.API, status int) (kind, code string) {
	if api == provider.AnthropicMessages {
		switch status {
		case 400, 422:
			return "invalid_request_error", ""
		case 401:
			return "authentication_error", ""
		case 402:
			return "billing_error", ""
		case 403:
			return "permission_error", ""
		case 404:
			return "not_found_error", ""
		case 413:
			return "request_too_large", ""
		case 429:
			return "rate_limit_error", ""
		case 504:
			return "timeout_error", ""
		case 529, 503:
			return "overloaded_error", ""
		}
		return "api_error", ""
	}
	switch {
	case status == 401:
		return "invalid_request_error", "invalid_api_key"
	case status == 404:
		return "invalid_request_error", "model_not_found"
	case status == 429:
		return "requests", "rate_limit_exceeded"
	case status >= 500:
		return "server_error", ""
	}
	return "invalid_request_error", ""
}
