package fallback

// Names of vendors whose words mean something only from them. A provider is
// one of them when its id contains a name ("kimi-claw" is Moonshot).
const (
	dashscopeNames = "dashscope qwen bailian aliyun alibaba modelstudio"
	moonshotNames  = "moonshot kimi"
	zaiNames       = "zai z.ai zhipu bigmodel glm"
	googleNames    = "google gemini vertex"
)

// dashscope is true of Model Studio, which calls its throughput limits
// insufficient_quota and its unpaid bills Arrearage (Model Studio, error codes).
var dashscope = from(dashscopeNames, always)

func always(*facts, *text) string { return "provider" }

// preciseRule is a machine word that says more than the status beside it.
type preciseRule struct {
	source string
	reason Reason
	when   clue
}

// preciseRules are read before the status. They hold the words for which a
// vendor chose a status that means something else.
var preciseRules = []preciseRule{
	{"failover.md 5.B.4", AuthPermanent, code("deactivated_workspace account_deactivated organization_deactivated")},
	{"IL-140, V12; OpenAI sends 403 for a project without the model", ModelNotFound,
		code("model_not_found model_not_supported unsupported_model model_not_available deploymentnotfound model_decommissioned model_is_deactivated unsupported_api_for_model")},
	{"M25; Bedrock sends 429", Overloaded, code("modelnotreadyexception")},
	{"Google APIs: 403 with reason", RateLimit,
		from(googleNames, code("ratelimitexceeded userratelimitexceeded quotaexceeded dailylimitexceeded rate_limit_exceeded"))},
	{"Kimi Code: error reference, 403 at the end of a billing cycle", RateLimit, from(moonshotNames, onStatus(403, say("usage limit")))},
}

// onStatus is a clue that holds under one status only.
func onStatus(status int, c clue) clue {
	return func(e *facts, t *text) string {
		if e.status != status {
			return ""
		}
		return c(e, t)
	}
}
