// Package bot is a turn: what happens between a message that comes in and the
// answer that goes out.
package bot
