// Package incidents decides what the operators are told of what goes wrong: of
// each trouble once, when it begins, and once more when it is over.
//
//	signs      what is wrong at this moment, as package daemon finds it
//	decide.go  which incidents begin, go on, come back and end; it takes now
//	say.go     the lines that people read
//	target.go  who is told of what, and where
//	webhook.go hands a line to a URL; the only file that acts
//
// An incident is a row (store/incidents.go), so that a restart neither forgets
// one nor tells of it again. What a trouble is, is not decided here: that a
// credential was refused is found by package fallback, that a channel is down by
// its adapter.
package incidents
