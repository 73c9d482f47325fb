package bot

import (
	"fmt"
	"slices"
	"strings"

	"standin/bot/policy"
	"standin/fallback"
	"standin/fallback/provider"
)

// choicesOf are the words that a setting takes, for people.
func choicesOf(name SettingName) string {
	switch name {
	case SetThink:
		var all []string
		for _, e := range provider.Efforts() {
			all = append(all, string(e))
		}
		return strings.Join(all, ", ")
	case SetVerbose:
		return "off, on, full"
	case SetUsage:
		return "off, tokens, full, cost"
	case SetActivation:
		return "mention, always"
	}
	return ""
}

func saySettingRefused(name SettingName, value string) string {
	choices := choicesOf(name)
	if choices == "" {
		return fmt.Sprintf("There is no setting %q. Nothing has changed. There are think, verbose, usage, activation and label.", policy.Short(string(name), 40))
	}
	return fmt.Sprintf("I don't know %q. Nothing has changed. Use /%s with one of %s, or default to go by the configuration.", policy.Short(value, 40), name, choices)
}

// meaningOf says what a value of a setting does.
func meaningOf(name SettingName, value string) string {
	switch name {
	case SetThink:
		switch value {
		case "":
			return "Models think as much as their vendors have it"
		case string(provider.EffortOff):
			return "Models answer with as little thinking as they can"
		}
		return fmt.Sprintf("Models think before they answer: %s, or the nearest that a model has", value)
	case SetVerbose:
		switch VerboseLevel(value) {
		case VerboseOn:
			return "I tell which tools I have used"
		case VerboseFull:
			return "I tell which tools I have used, and what I gave them"
		}
		return "I don't tell which tools I use"
	case SetUsage:
		switch UsageLevel(value) {
		case UsageTokens:
			return "Answers tell how many tokens they took"
		case UsageFull:
			return "Answers tell their model, their tokens and what they cost"
		case UsageCost:
			return "Answers tell what they cost, as far as prices are known"
		}
		return "Answers don't tell what they took"
	case SetActivation:
		switch value {
		case Always:
			return "I answer everything that is said here"
		case ByMention:
			return "I answer here when I am mentioned"
		}
		return "I answer here as the configuration says"
	}
	return ""
}

// configured is the value of a setting where the session does not say.
func configured(name SettingName, cfg *Config) string {
	switch name {
	case SetThink:
		return string(cfg.Think)
	case SetVerbose:
		return string(cfg.Verbose)
	}
	return ""
}

// saySetting tells how a setting stands.
func saySetting(name SettingName, s Settings, cfg *Config) string {
	value, back := s.Of(name), fmt.Sprintf("; /%s default goes back to the configuration", name)
	if value == "" {
		value, back = configured(name, cfg), ", as the configuration says"
		if name == SetActivation {
			back = ""
		}
	}
	return fmt.Sprintf("%s%s. /%s changes it: %s.", meaningOf(name, value), back, name, choicesOf(name))
}

// saySet confirms a change.
func saySet(s Setting, cfg *Config) string {
	if s.Value == "" {
		return fmt.Sprintf("%s, as the configuration has it.", strings.TrimSuffix(meaningOf(s.Name, configured(s.Name, cfg)), " as the configuration says"))
	}
	return fmt.Sprintf("%s, from now on in this session. /%s default goes back to the configuration.", meaningOf(s.Name, s.Value), s.Name)
}

const sayActivationInDirect = "Here I answer everything: this is a direct chat. /activation is for rooms and groups."

// sayUsage is the line below an answer (/usage), "" for none.
func sayUsage(l UsageLevel, out *fallback.Outcome) string {
	t := out.Reply.Tokens
	tokens := fmt.Sprintf("%s tokens in, %s out", grouped(t.Input), grouped(t.Output))
	if t == (provider.Tokens{}) {
		tokens = "tokens unknown: the vendor did not say"
	} else if t.CacheRead > 0 && l == UsageFull {
		tokens += fmt.Sprintf(" (%s from the cache)", grouped(t.CacheRead))
	}
	cost := fallback.Dollars(out.Bill.USD) + " (estimate)"
	if out.Bill.Unpriced > 0 {
		cost = "cost unknown: no price for " + out.Used.String()
	}
	switch l {
	case UsageTokens:
		return "— " + tokens
	case UsageCost:
		return "— " + cost
	case UsageFull:
		return "— " + strings.Join([]string{out.Used.String(), tokens, cost}, " · ")
	}
	return ""
}

// grouped writes a number with its thousands apart.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// verboseTools bounds how many tools one line each is told of.
const verboseTools = 20

// sayTools tells which tools a turn has used, a line each; "" for none (/verbose).
func sayTools(l VerboseLevel, said []provider.Message) string {
	if l != VerboseOn && l != VerboseFull {
		return ""
	}
	var lines []string
	for _, m := range said {
		for _, c := range m.Calls {
			line := "🔧 " + policy.Short(c.Name, 64)
			if l == VerboseFull {
				line += " " + policy.Short(provider.Redact(c.Input), 160)
			}
			if failedCall(said, c.ID) {
				line += " (failed)"
			}
			lines = append(lines, line)
		}
	}
	if more := len(lines) - verboseTools; more > 0 {
		lines = append(lines[:verboseTools], fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(lines, "\n")
}

func failedCall(said []provider.Message, id string) bool {
	return slices.ContainsFunc(said, func(m provider.Message) bool {
		return slices.ContainsFunc(m.Results, func(r provider.ToolResult) bool { return r.ID == id && r.Failed })
	})
}

// saySettings lists what a session was told, for /status.
func saySettings(s Settings) string {
	var all []string
	for _, name := range []SettingName{SetThink, SetVerbose, SetUsage, SetActivation} {
		if v := s.Of(name); v != "" {
			all = append(all, "/"+string(name)+" "+v)
		}
	}
	return strings.Join(all, ", ")
}
