// Package mcp brings in the tools of Model Context Protocol servers: programs of
// this machine over their standard input and output, and others over streamable
// HTTP. It is the home of the protocol's official Go SDK.
//
// A server lives and ends with the daemon. One that fails is started again, later
// each time; meanwhile its tools are not offered. What its tools may do is decided
// like that of any other (bot/tools): unless config says otherwise they are the
// owner's, and what they give back is strangers' words.
package mcp
