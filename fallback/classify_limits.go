package fallback

// Limits of rate and capacity: the vendor works, but not for this request now.

var (
	// periodic is a plan's usage window, not a bill (5.D 8).
	periodic = some(
		say(
			"daily|weekly|monthly limit|limits", "daily|weekly|monthly usage limit|limits",
			"hour|hours limit|limits", "hour|hours usage limit", // Claude plans: 5-hour limit
		))

	// rateFamily is the rate-limit family (5.D, M20, V1, V3, V15).
	rateFamily = some(
		number(429),
		say(
			"rate limit|limits|limited|limiting|limiter", "ratelimit~",
			"too many requests", "toomanyrequests~",
			"too many concurrent|parallel|simultaneous requests|connections",
			"throttl~",
			"model cooldown",
			"exceeded your current quota",
			"resource has been exhausted", "resource exhausted", "resourceexhausted~", // V1
			"quota exceeded",
			"usage limit|limits",
			"tpm", "tokens per minute|min|day",
			"concurrency limit", // V15: reached, breached, exceeded …
			"workers_ai .. quota limit exceeded",
			"请求过于频繁", "调用频率", "频率限制", "配额不足", "配额已用尽", "额度不足", "额度已用尽",
		),
	)

	// rateWords adds what vendors' error documents name beside it. HTTP 402 does
	// not read these: there a quota may be a bill (5.F.5).
	rateWords = some(
		rateFamily,
		say(
			"exceeded .. quota", "quota has been exceeded|exhausted", "quota exhausted",
			"rpm", "rpd", "requests per second|minute|min|hour|day",
			"request rate increased too quickly", "rate exceeded", // DashScope; AWS
			"limit_burst_rate", "limit_requests", // DashScope
			"servicequotaexceeded~", // Bedrock
			"queue exceeded",        // Cerebras
			"maximum concurrent|parallel requests|connections", "concurrent request|requests limit", "concurrency exceeded",
			"request limit reached|exceeded", "requests limit reached|exceeded",
			"rate of requests", "slow_down",
			"no deployments available for selected model", // LiteLLM: all are cooling
			"session limit reached", "are cooling down",
			"频率过高", "并发数过高", "并发超额", "速率限制", "流量限制", "触发限流", "使用上限", "次数限额", "请求过多", "请求频率", "配额超限", "配额已用完", "额度已用完",
		),
		from(zaiNames, code("1302 1303 1304 1305 1308 1310 1313")),
		from("minimax", code("1002 1039 1041 2045 2056")),
	)

	// busyWords is the overloaded family (5.D, M25).
	busyWords = some(
		number(529),
		say(
			"overloaded", "serveroverloaded~",
			"model is at capacity", "model at capacity",
			"high demand", "high load",
			"modelnotreadyexception",
			"服务过载", "当前负载过高", "访问量过大",
		),
		all(say("service unavailable", "service is unavailable"), say("overload~", "capacity", "high demand")),
		say( // vendors' error documents
			"server|servers|engine|service is|are busy", "server busy", // DeepSeek, Ollama
			"at capacity", "over capacity", "capacity exceeded", "out of capacity", "insufficient capacity",
			"high traffic", // Cerebras, Together
			"heavy load",
			"maximum pending requests exceeded", // Ollama
			"负载过高", "引擎过载", "系统过载",
		),
	)
)
