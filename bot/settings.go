package bot

// Settings are what people have told a session beside its model, its queue and
// whether it may post [S13]. A field that is "" goes by the config. They outlive
// /new, and a session that is over by time [S11].
type Settings struct {
	Think      string // how much a model thinks before it answers: a ThinkLevel
	Verbose    string // whether the tools of a turn are told: a VerboseLevel
	Usage      string // what answers tell of their cost: a UsageLevel
	Activation string // what a room's session answers to: ByMention or Always
	Label      string // what people call the session
}

// Setting is a change of one of the Settings; Value "" takes it back.
type Setting struct {
	Name  SettingName
	Value string
}

// SettingName names one of the Settings.
type SettingName string

// The settings.
const (
	SetThink      SettingName = "think"
	SetVerbose    SettingName = "verbose"
	SetUsage      SettingName = "usage"
	SetActivation SettingName = "activation"
	SetLabel      SettingName = "label"
)

// With is s after a change.
func (s Settings) With(c Setting) Settings {
	if at := s.field(c.Name); at != nil {
		*at = c.Value
	}
	return s
}

// Of gives one setting by its name.
func (s Settings) Of(name SettingName) string {
	if at := s.field(name); at != nil {
		return *at
	}
	return ""
}

func (s *Settings) field(name SettingName) *string {
	switch name {
	case SetThink:
		return &s.Think
	case SetVerbose:
		return &s.Verbose
	case SetUsage:
		return &s.Usage
	case SetActivation:
		return &s.Activation
	case SetLabel:
		return &s.Label
	}
	return nil
}
