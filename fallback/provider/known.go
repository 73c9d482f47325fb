package provider

// vendor is a line of the table of known providers.
type vendor struct {
	api     API
	baseURL string
	envKey  string // environment variable that customarily holds the key
	noKey   bool   // runs on this machine and asks for no key
}

// vendors are the providers that need nothing but a key. Addresses and names
// of variables are the vendors' documented ones. OpenAI speaks Chat
// Completions here because every model and every proxy in front of it does;
// api: openai-responses in the config changes that.
var vendors = map[string]vendor{
	"openai":    {OpenAICompletions, "https://api.openai.com/v1", "OPENAI_API_KEY", false},
	"anthropic": {AnthropicMessages, "https://api.anthropic.com", "ANTHROPIC_API_KEY", false},
	// ai.google.dev/gemini-api/docs/openai
	"google": {OpenAICompletions, "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", false},

	"openrouter":  {OpenAICompletions, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", false},
	"vercel":      {OpenAICompletions, "https://ai-gateway.vercel.sh/v1", "AI_GATEWAY_API_KEY", false},
	"kilocode":    {OpenAICompletions, "https://api.kilo.ai/api/gateway", "KILOCODE_API_KEY", false},
	"groq":        {OpenAICompletions, "https://api.groq.com/openai/v1", "GROQ_API_KEY", false},
	"deepseek":    {OpenAICompletions, "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", false},
	"mistral":     {OpenAICompletions, "https://api.mistral.ai/v1", "MISTRAL_API_KEY", false},
	"xai":         {OpenAICompletions, "https://api.x.ai/v1", "XAI_API_KEY", false},
	"together":    {OpenAICompletions, "https://api.together.xyz/v1", "TOGETHER_API_KEY", false},
	"fireworks":   {OpenAICompletions, "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", false},
	"cerebras":    {OpenAICompletions, "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", false},
	"moonshot":    {OpenAICompletions, "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", false},
	"kimi":        {AnthropicMessages, "https://api.kimi.com/coding", "KIMI_API_KEY", false},
	"minimax":     {AnthropicMessages, "https://api.minimax.io/anthropic", "MINIMAX_API_KEY", false},
	"zai":         {OpenAICompletions, "https://api.z.ai/api/paas/v4", "ZAI_API_KEY", false},
	"huggingface": {OpenAICompletions, "https://router.huggingface.co/v1", "HF_TOKEN", false},
	"nebius":      {OpenAICompletions, "https://api.tokenfactory.nebius.com/v1", "NEBIUS_API_KEY", false},
	"nvidia":      {OpenAICompletions, "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY", false},
	"perplexity":  {OpenAICompletions, "https://api.perplexity.ai", "PERPLEXITY_API_KEY", false},
	"venice":      {OpenAICompletions, "https://api.venice.ai/api/v1", "VENICE_API_KEY", false},
	"qwen":        {OpenAICompletions, "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY", false},

	"ollama":   {OpenAICompletions, "http://127.0.0.1:11434/v1", "", true},
	"lmstudio": {OpenAICompletions, "http://127.0.0.1:1234/v1", "", true},
	"vllm":     {OpenAICompletions, "http://127.0.0.1:8000/v1", "", true},
	"llamacpp": {OpenAICompletions, "http://127.0.0.1:8080/v1", "", true},
	"litellm":  {OpenAICompletions, "http://127.0.0.1:4000/v1", "LITELLM_API_KEY", false},
	"localai":  {OpenAICompletions, "http://127.0.0.1:8080/v1", "", true},
	"sglang":   {OpenAICompletions, "http://127.0.0.1:30000/v1", "", true},
}

// Known gives the endpoint of a provider that is known by its normalised id,
// and the name of the environment variable that customarily holds its key (""
// for one that wants none). Config overrides each field.
func Known(providerID string) (e Endpoint, envKey string, ok bool) {
	v, ok := vendors[providerID]
	if !ok {
		return Endpoint{Provider: providerID}, "", false
	}
	return Endpoint{Provider: providerID, API: v.api, BaseURL: v.baseURL, NoKey: v.noKey}, v.envKey, true
}
