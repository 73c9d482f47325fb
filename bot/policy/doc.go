// Package policy decides what a message of a busy platform may be and how it is
// answered: who is let in, what counts as addressed, which session and which
// agent it belongs to, when a session is over, how waiting messages are merged,
// and which post refers to which message. It takes values and gives values:
// nothing here acts, reads a row or looks at a clock, and nothing knows a
// platform by name. Package bot asks these deciders on a message's way and does
// what they say.
//
//	surface.go   the settings of a channel account     access.go   who is let in [SL9–SL15, D3–D6]
//	pairing.go   codes for unknown people [P1–P3]      crowd.go    bots that answer bots [SL15]
//	mention.go   what is addressed to the agent        session.go  keys, threads, parents [S1, S2, SL18, D7]
//	route.go     which agent, which model [S3, T4]     reset.go    when a session is over [S6–S9]
//	queue.go     waiting messages [S24–S27]            debounce.go messages that belong together [S32]
//	reply.go     references and tags [N25–N29]         prefix.go   what stands in front of an answer [S38]
//	context.go   what was said unasked [S17, S18]      inline.go   commands inside a text [C15]
//	happening.go what was done, told in a line [SL16]
package policy
