package fallback

// Safety refusals: the model or its vendor's filter will not answer this
// conversation. Another model is not asked in its place [M28, failover.md
// 5.G.5], and no key is to blame.

// refusalFinish are the stop reasons of an answer that was withheld.
var refusalFinish = fieldSet("refusal refused content_filter content-filter contentfilter safety prohibited_content blocklist spii sensitive " +
	"guardrail_intervened content_filtered image_safety")

// RefusalFinish tells whether a reply's stop reason (provider.Reply.Finish)
// says that the model or its filter declined to answer.
func RefusalFinish(finish string) bool { return refusalFinish[NormalProvider(finish)] }

var (
	// refusalCodes are the machine words for it. OpenAI, Azure OpenAI, Google,
	// DashScope, Volcengine, Moonshot, Z.ai 1301, MiniMax 1026 and 1027.
	refusalCodes = some(
		code("content_filter content_policy_violation responsibleaipolicyviolation content_policy moderation_blocked "+
			"datainspectionfailed data_inspection_failed prohibited_content safety content_filtered refusal "+
			"sensitivecontentdetected inputtextsensitivecontentdetected outputtextsensitivecontentdetected "+
			"inputimagesensitivecontentdetected cyber_policy_violation"),
		from(zaiNames, code("1301")),
		from("minimax", code("1026 1027")),
	)

	// refusalWords are the sentences. They name the content as the fault, so a
	// credential or a plan that violates terms is none of them.
	refusalWords = briefly(
		"finish_reason: content filter|safety|prohibited", "stop_reason: refusal",
		"input was flagged", "prompt was flagged", "flagged as potentially violating",
		"flagged .. moderation", "rejected .. safety system", "content management policy", "content_filter", "content filtering policy",
		"may contain inappropriate content", "may contain sensitive information", "considered high risk",
		"blocked due to safety|prohibited", "blocked by content|safety filter|filters",
		"content policy violation", "violates our usage|content policies|policy",
		"包含不安全或敏感内容", "敏感内容", "内容安全",
	)

	refused = some(refusalCodes, refusalWords)
)
