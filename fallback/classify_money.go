package fallback

// Money: an account that cannot pay. It disables the whole profile for hours
// [M24], so the wordings are narrow: a long text with such a word is prose.

var (
	// billingWords are wordings that mean money by themselves.
	billingWords = some(
		briefly( // failover.md 5.D, family Billing
			"payment required",
			"insufficient credit|credits",
			"used all available credits",
			"spend|spending limit|limits",
			"credit balance",
			"plans billing",
			"insufficient balance",
			"insufficient usd or diem balance",
			"require|requires more credits",
			"out of extra usage", "draw from your extra usage", "extra usage is required",
			"valid .. plan|codingplan subscription",
			"current subscription plan .. not .. include access",
			"model .. not available .. current plan",
			"余额不足", "账户余额不足", "欠费", "账户已欠费",
			"run|ran out of credits", "out of credits", // V14
		),
		say("invalidsubscription"), // Volcengine; holds in long texts too
		codeSaid("1311"),           // Z.ai, the same
		briefly( // vendors' error documents
			"no credits remaining|left", "credits .. depleted|exhausted", "credits remaining 0",
			"doesnt have any credits",                                                                              // xAI
			"exceeded your monthly included credits",                                                               // Hugging Face
			"insufficient funds",                                                                                   // Vercel AI Gateway
			"not enough balance|credits",                                                                           // Novita
			"balance is insufficient|exhausted|negative|overdue|depleted", "account balance is not enough|too low", // SiliconFlow
			"billing hard limit", "billing limit reached|exceeded", // OpenAI
			"billing not active", "billing inactive", "account is not active .. billing", // OpenAI 429
			"billing_error",                                                                               // Anthropic
			"requires billing to be enabled", "enable billing", "billing disabled", "billing is disabled", // Google
			"billing account .. disabled|closed|not found",
			"usage not included",                                 // Codex: the plan has no Codex
			"verify your membership benefits",                    // Kimi Code 402
			"arrearage", "overdue payment|payments|balance|bill", // DashScope
			"accountoverdueerror", "account .. overdue", "serviceoverdue", // Volcengine
			"payment method .. required|file", "enter|add a payment method", // DeepInfra
			"coding plan .. expired", // Z.ai 1309
			"subscription expired", "subscription has|is expired|ended|lapsed",
			"subscription is not active", "subscription inactive",
			"no active subscription",
			"请充值", "余额已用完", "余额已用尽", "账户余额已", "套餐已到期", "套餐已过期", "逾期",
		),
	)

	// quotaWords mean money except at DashScope.
	quotaWords = briefly("insufficient quota|quotas")

	// genericBalance says too little to tell an empty account from a limit: some
	// gateways answer every 429 so (5.C, row 429).
	genericBalance = briefly("insufficient account balance")

	// anyBalance is "insufficient <word> balance" (MBT, wallet, prepaid …).
	anyBalance = briefly("insufficient * balance")

	// heading is a text that begins with a word of money and goes on to a way
	// out of it (5.D, the heading form).
	heading = all(
		briefly("^ billing", "^ credit balance", "^ insufficient credit|credits", "^ payment required", "^ http 402"),
		briefly("upgrade", "credit|credits", "payment", "purchase", "subscription", "plan"),
	)

	// keyBudget: OpenRouter's keys have budgets of their own (5.D 6).
	keyBudget = from("openrouter", briefly("key limit exceeded|reached|hit", "api key budget limit exceeded|reached|hit"))

	// clearBilling is billing that the generic balance text alone does not make.
	clearBilling = some(
		billingWords,
		but(quotaWords, dashscope),
		but(anyBalance, genericBalance),
		heading,
		from(zaiNames, code("1309")),
		from("minimax", code("1008")),
	)

	billing = some(clearBilling, genericBalance)
)

// moneyCodes are structured types that mean money whatever the sentence says;
// with the provider, because one word means two things (5.I, V5, IL-181).
var moneyCodes = fieldSet("insufficient_quota insufficient_balance insufficient_credits billing_error payment_required " +
	"billing_not_active billing_hard_limit_reached exceeded_current_quota_error arrearage accountoverdueerror " +
	"invalidsubscription enforced_spend_limit_reached not_enough_balance usage_not_included")

// structuredMoney is the money code among the signal's codes, "" when none.
func (e *facts) structuredMoney() string {
	for _, c := range e.codes() {
		if moneyCodes[c] && !(c == "insufficient_quota" && dashscope(e, nil) != "") {
			return c
		}
	}
	return ""
}

// HTTP 402 is money or a usage window, told apart by the sentence (5.F).
var (
	refillingQuota = all(say("subscription quota limit"), say("automatic quota refresh", "rolling time window")) // 5.F.3

	explicitMoney = some( // 5.F.4
		say("insufficient credit|credits|quota|balance", "credit balance", "plans billing", "add more credits", "top up",
			"billing hard limit", "hard limit reached"),
		all(say("upgrade plan", "upgrade your plan", "current plan", "subscription"), say("limit|limits")),
		all(say("maximum allowed"), say("limit|limits")),
	)

	temporaryMoney = some( // 5.F.6
		all(say("try again", "retry", "temporary|temporarily", "cooldown"), say("usage limit|limits", "rate limit|limits", "organization usage")),
		all(say("daily|weekly|monthly"), say("usage limit|limits", "spend limit|limits", "spending limit|limits")),
		all(say("daily|weekly|monthly"), say("limit|limits"), say("reset~")),
		all(say("organization|organisation|workspace"), say("limit|limits"), say("spend|spending limit", "billing period", "exceeded", "reached", "exhausted")),
	)

	// hardMoney tells that a bare leading 402 is a status after all (5.F.8).
	hardMoney = say("payment required", "used up your points", "no available asset for api access")
)

// payment judges a text under HTTP 402. A bare 402 at the start of a text (no
// status field, no "HTTP") may be a count: then only clear words speak.
func payment(e *facts, t *text, bare bool) (Reason, string) {
	if w := refillingQuota(e, t); w != "" {
		return RateLimit, w
	}
	if w := explicitMoney(e, t); w != "" {
		return Billing, w
	}
	if w := rateFamily(e, t); w != "" {
		return RateLimit, w
	}
	if w := temporaryMoney(e, t); w != "" {
		return RateLimit, w
	}
	if bare {
		w := hardMoney(e, t)
		if w == "" {
			return NoReason, ""
		}
		return Billing, w
	}
	return Billing, "HTTP 402"
}
