package main

// oneModel begins a config that has what every config needs.
const oneModel = "agents: {defaults: {model: openai/gpt-5.5}}\n"

// env is a getenv of fixed variables.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}
