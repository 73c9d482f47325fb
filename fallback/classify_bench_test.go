package fallback

import "testing"

// A decision takes less than 20 µs (design, section 6).
func BenchmarkClassify(b *testing.B) {
	signals := map[string]Signal{
		"overloaded":   {Provider: "anthropic", Status: 529, Message: "Overloaded", Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_011CS"}`},
		"quota":        {Provider: "openai", Status: 429, Code: "insufficient_quota", Type: "insufficient_quota", Message: "You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.", Body: `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`},
		"unclassified": {Provider: "google", Message: "the vendor said something that nobody has ever seen before, at some length, and nothing in it is known"},
		"stream":       {Provider: "openai", Message: "stream disconnected before completion: response.completed was not received"},
	}
	for name, s := range signals {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Classify(s)
			}
		})
	}
}
