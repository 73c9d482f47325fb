package main

import (
	"standin/bot/operator"
	"standin/fallback"
)

// drill is an outage that the operator's page can have played: what vendors do, and
// when somebody writes.
type drill struct {
	operator.Outage
	says    []string // when, as durations
	vendors func(chain []fallback.Model) []map[string]any
}

// drills are outages that happen, by the rules of a script (rehearsal.md R6).
var drills = []drill{
	{operator.Outage{ID: "rate-limit", Title: "The primary is rate-limited for half an hour", Story: "The primary answers 429 for 30 minutes. People write meanwhile, and once it is over."},
		[]string{"0s", "1m", "6m", "20m", "36m", "42m"}, ofPrimary(during("30m", refusal(429, "rate_limit_exceeded", "Rate limit reached")))},
	{operator.Outage{ID: "overloaded", Title: "The primary's provider is overloaded for an hour", Story: "All models of the primary's provider answer 529 for an hour, whichever key is used."},
		[]string{"0s", "2m", "10m", "45m", "66m", "75m"}, ofProvider(during("1h", refusal(529, "", "Overloaded")))},
	{operator.Outage{ID: "hang", Title: "The primary does not answer any more", Story: "The primary takes requests and never answers, for 20 minutes. The limits of an attempt decide how long people wait."},
		[]string{"0s", "5m", "12m", "30m"}, ofPrimary(during("20m", map[string]any{"hang": true}))},
	{operator.Outage{ID: "broken-answers", Title: "Answers break off in the middle", Story: "For ten minutes the primary's answers break off after a few words."},
		[]string{"0s", "3m", "16m"}, ofPrimary(during("10m", map[string]any{"breakAfter": "The answer is that"}))},
	{operator.Outage{ID: "billing", Title: "The account has no credit left", Story: "The primary's provider answers 402 until somebody pays, seven hours later."},
		[]string{"0s", "10m", "4h", "6h", "8h", "13h"}, ofProvider(during("7h", refusal(402, "insufficient_quota", "Insufficient credits")))},
	{operator.Outage{ID: "key-revoked", Title: "A key is revoked", Story: "The primary's provider refuses every key for good."},
		[]string{"0s", "5m", "15m", "40m"}, ofProvider(refusal(403, "", "API key revoked"))},
	{operator.Outage{ID: "all-limited", Title: "Every model is rate-limited", Story: "All models of all providers answer 429 for ten minutes: nobody can answer, and people are told until when."},
		[]string{"0s", "2m", "12m"}, ofAll(during("10m", refusal(429, "rate_limit_exceeded", "Rate limit reached")))},
	{operator.Outage{ID: "no-network", Title: "This machine has no network", Story: "No provider can be reached for five minutes."},
		[]string{"0s", "2m", "7m"}, ofAll(during("5m", map[string]any{"network": "refused"}))},
}

func refusal(status int, code, message string) map[string]any {
	e := map[string]any{"status": status, "message": message}
	if code != "" {
		e["code"] = code
	}
	return map[string]any{"error": e}
}

// during is an effect that ends.
func during(until string, effect map[string]any) map[string]any {
	effect["until"] = until
	return effect
}

func rule(model string, effect map[string]any) []map[string]any {
	one := map[string]any{"model": model}
	for k, v := range effect {
		one[k] = v
	}
	return []map[string]any{one}
}

func ofPrimary(effect map[string]any) func([]fallback.Model) []map[string]any {
	return func(chain []fallback.Model) []map[string]any { return rule(chain[0].String(), effect) }
}

func ofProvider(effect map[string]any) func([]fallback.Model) []map[string]any {
	return func(chain []fallback.Model) []map[string]any { return rule(chain[0].Provider+"/*", effect) }
}

func ofAll(effect map[string]any) func([]fallback.Model) []map[string]any {
	return func([]fallback.Model) []map[string]any { return rule("*", effect) }
}
