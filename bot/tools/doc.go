// Package tools is what an agent can do beside talking: the shape of a tool, who
// may use which, and how the calls of one round are run. The tools that need the
// bot itself (sessions, messages) are made in package bot, those of other rooms
// in the wiring; here are the ones that stand alone: the workspace, memory, web
// pages.
//
// A tool gets what a model wrote, which may be what a stranger made it write.
// So a tool checks its input, reaches only what its Place allows, and bounds what
// it gives back (config-ops.md G36).
package tools
