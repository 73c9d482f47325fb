package fallback

import "strconv"

// Context overflow: the request is longer than the model can read. It is read
// before everything else that a text may say, since vendors wrap it in statuses
// of all kinds (400, 403, 413, 429, 500) [D13, failover.md 5.H].

var (
	// perMinute is a limit on throughput, not on one request (5.H.1).
	perMinute = say("tpm", "tpd", "tokens per minute|min|day")

	// thinkingWords are about a model's reasoning setting (5.H.1).
	thinkingWords = say("reasoning is mandatory|required", "reasoning can not|cannot be disabled", "reasoning cant be disabled",
		"requires reasoning", "reasoning to be enabled")

	// tooSmall is a complaint of the model's own window (5.H.4).
	tooSmall = say("context window|length|size .. too small", "context window|length|size .. minimum is", "minimum context window|length|size")

	// overflowWords are wordings that mean overflow by themselves.
	overflowWords = some(
		say( // failover.md 5.H.2
			"request too large",
			"request exceeds|exceed|exceeded the maximum size",
			"maximum|max context length|window|size",
			"prompt is too long", "prompt too long",
			"model token limit",
			"context overflow",
			"exceed~ .. context window|length|size|limit",
			"context window|length|size|limit .. exceed~|overflow~",
			"input .. exceed~ .. maximum number of .. tokens",
			"total tokens|token .. exceed~ .. model|max|maximum|limit",
			"上下文过长", "上下文超出", "上下文长度超", "超出最大上下文", "超过最大上下文", "请压缩上下文", "上下文长度超限",
		),
		all(say("invalid argument"), say("maximum number of tokens")),
		all(say("context window|length"), say("ran|run|running out of room|space")),
		all(number(413), say("too large")),
		say( // failover.md 5.H.3, V10 and the servers' own messages
			"input is too long", "input too long", "too long for this|the|requested model", // Bedrock, Mistral
			"input token count .. exceed~",                                // Gemini, Vertex
			"longer than .. context|model length",                         // SGLang; vLLM "maximum model length"
			"longer than .. context window|size",                          // SGLang
			"available context size",                                      // llama.cpp
			"context length is only",                                      // vLLM
			"context length of only",                                      // LM Studio
			"greater than .. context length|window|size",                  // LM Studio
			"less than .. context length|window",                          // Together 403
			"max new tokens must be|not",                                  // TGI, Together
			"maximum prompt length",                                       // xAI
			"reduce the length of .. messages|prompt|input",               // OpenAI, Groq, Cerebras
			"range of input length should be",                             // DashScope
			"input length .. exceed~ .. maximum length",                   // Volcengine
			"prompt token count .. exceed~", "max prompt tokens exceeded", // GitHub Copilot
			"input tokens exceed the configured limit",             // OpenAI Responses
			"too many input tokens",                                // Bedrock
			"number of tokens in the prompt can not|cannot exceed", // Cohere
			"prompt exceed~ max length",                            // Z.ai 1261
			"tokens in .. prompt .. exceed~",                       // Cohere, AI21
			"string_above_max_length",                              // OpenAI
			"prompt 超长", "输入超长", "输入长度超", "超过模型最大长度", "超出模型最大",     // Z.ai, DashScope
		),
		from(zaiNames, code("1261")),
	)

	// overflow: what 5.H.1 excludes is a matter of throughput or settings,
	// except when this one request can never pass.
	overflow = some(overCeiling, but(overflowWords, perMinute, thinkingWords, tooSmall, outputLimit))

	// likelyOverflow is the guard of 5.H.4 for texts that nothing else explains
	// (V9). It is the last text rule: by then money, limits and credentials have
	// had their say.
	likelyOverflow = but(
		say(
			"context overflow",
			"context window .. too large", "context window .. exceed~|limit~|max~|tokens~",
			"prompt|prompts .. too large", "prompt .. exceed~|limit~",
			"request|requested|input .. context|window|length|token|tokens .. too large",
			"request|requested|input .. context|window|length|token|tokens .. exceed~|limit~|max~",
		),
		perMinute, thinkingWords, tooSmall, rateWords, outputLimit)

	// outputLimit is about the length of the answer: the request is wrong, the
	// context is not full (V11).
	outputLimit = but(say(
		"maximum allowed number of output tokens",
		"max tokens|output|completion .. maximum .. output|completion tokens",
		"supports at most .. completion|output tokens",
		"max tokens .. too large .. supports at most",
		"max tokens .. must be less than or equal to",
		"maximum value for max tokens|completion|output",
		"max output tokens .. above|exceed~|greater",
	), say("context"))
)

// overCeiling: one request larger than a tokens-per-minute ceiling never
// succeeds as it is, so it is overflow, whatever status carries it (V-list).
func overCeiling(e *facts, t *text) string {
	if perMinute(e, t) == "" {
		return ""
	}
	if limit, requested := t.amount("limit"), t.amount("requested"); limit > 0 && requested > 0 {
		if requested > limit {
			return "requested over the tokens-per-minute limit"
		}
		return ""
	}
	return oversized(e, t)
}

var oversized = say("request too large", "request is too large", "single request .. exceed~", "must be reduced in order to run",
	"reduce your message|prompt|input size", "reduce the size of your request|message|prompt|input")

// amount is the number after a word, as in "Limit 30000, Requested 45000" or
// "limit: 30,000"; 0 when there is none.
func (t *text) amount(word string) int {
	key := hash(word)
	if !t.has(key) {
		return 0
	}
	for i := 0; i+1 < len(t.words); i++ {
		if t.words[i].key != key || t.word(i) != word {
			continue
		}
		digits := t.word(i + 1)
		for j := i + 2; j < len(t.words) && t.words[j].end-t.words[j].start == 3 && t.lower[t.words[j].start-1] == ',' &&
			t.words[j].start == t.words[j-1].end+1; j++ {
			digits += t.word(j)
		}
		if n, err := strconv.Atoi(digits); err == nil {
			return n
		}
	}
	return 0
}

func itoa(n int) string { return strconv.Itoa(n) }
