// Package operator is how the person who runs standin sees it and works on it
// [C7, G26]: an HTTP API in JSON, events as they happen, and metrics. The page in
// folder page is one user of that API; curl is another.
//
//	routes.go     every operation, one line each: the contract and who does it
//	views_*.go    what is sent and answered, with the words of the contract
//	contract.go   the OpenAPI document, made of those two; openapi.yaml is its copy
//	server.go     the way of a request: door, limits, handler, answer
//	door*.go      who may come in: tokens, cookies, hosts, origins, failed logins
//	now.go …      one file per heading of the API: what answers
//	stream.go     what happens, as it happens
//	metrics*.go   what happened, counted (G30, G31)
//	trace*.go     a turn as a trace, for those who ask for it
//
// It decides nothing about models: what it shows is what the deciders of package
// fallback say now, read from the rows. What it changes goes the way of the
// commands of a chat, and each change is recorded with who made it. Interfaces
// name what it needs of the daemon; package daemon fills them.
package operator
