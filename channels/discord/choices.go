package discord

import (
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"standin/channels"
)

// What one message can offer (Discord).
const (
	maxRows      = 5
	maxOptions   = 25  // of one menu
	maxCustomID  = 100 // characters, of a value too
	maxLabel     = 80  // of a button; of an option 100
	fewChoices   = 5   // so many are buttons, more are a menu
	pick         = "pick"
	pickSplitter = "|"
)

// components offers a delivery's choices: a few as buttons, more as menus. What
// they send stands in them, so they work after a restart; whom they are for, too
// [D17]. A choice that does not fit is left to be typed.
func (c *Channel) components(out channels.Outbound) []discordgo.MessageComponent {
	head := pick + pickSplitter + out.For
	var rows []discordgo.MessageComponent
	if len(out.Choices) <= fewChoices {
		var row discordgo.ActionsRow
		for _, choice := range out.Choices {
			id := head + pickSplitter + choice.Text
			if choice.Text == "" || len([]rune(id)) > maxCustomID {
				continue
			}
			row.Components = append(row.Components, discordgo.Button{
				Label: clip(choice.Label, maxLabel), Style: discordgo.SecondaryButton, CustomID: id,
			})
		}
		if len(row.Components) > 0 {
			rows = append(rows, row)
		}
		return rows
	}
	for at := 0; at < len(out.Choices) && len(rows) < maxRows; at += maxOptions {
		part := out.Choices[at:min(at+maxOptions, len(out.Choices))]
		menu := discordgo.SelectMenu{
			MenuType: discordgo.StringSelectMenu, CustomID: head + pickSplitter + pickSplitter + strconv.Itoa(len(rows)),
			Placeholder: "Choose",
		}
		if len(out.Choices) > maxOptions {
			menu.Placeholder = "Choose " + strconv.Itoa(at+1) + " to " + strconv.Itoa(at+len(part))
		}
		seen := map[string]bool{}
		for _, choice := range part {
			if choice.Text == "" || len([]rune(choice.Text)) > maxCustomID || seen[choice.Text] {
				continue
			}
			seen[choice.Text] = true
			menu.Options = append(menu.Options, discordgo.SelectMenuOption{Label: clip(choice.Label, maxCustomID), Value: choice.Text})
		}
		if len(menu.Options) > 0 {
			rows = append(rows, discordgo.ActionsRow{Components: []discordgo.MessageComponent{menu}})
		}
	}
	return rows
}

// chosen reads a click: the command that it sends, or what its sender is told
// instead. A menu of another make gives neither.
func (c *Channel) chosen(w *wireInteraction) (text, refusal string) {
	parts := strings.SplitN(w.Data.CustomID, pickSplitter, 3)
	if len(parts) != 3 || parts[0] != pick {
		return "", ""
	}
	switch {
	case parts[1] != "" && parts[1] != w.author().ID:
		return "", sayNotYours
	case c.now().Sub(timeOf(w.Message.ID)) > menuLife:
		return "", sayExpired
	case len(w.Data.Values) > 0:
		return w.Data.Values[0], ""
	}
	return parts[2], ""
}

// clip cuts a label to n characters.
func clip(s string, n int) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	switch {
	case len(r) == 0:
		return "?"
	case len(r) > n:
		return string(r[:n-1]) + "…"
	}
	return string(r)
}
