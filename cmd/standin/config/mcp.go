package config

import (
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"standin/bot/mcp"
	"standin/fallback/provider"
)

// mcpKeys is mcp: servers that bring tools along.
type mcpKeys struct {
	Servers map[string]mcpServerKeys `json:"servers,omitempty" jsonschema_description:"Servers of the Model Context Protocol by name, whose tools agents may use as <name>__<tool>."`
}

type mcpServerKeys struct {
	Command             string            `json:"command,omitempty" jsonschema_description:"The program that is the server; it is run while standin runs."`
	Args                []string          `json:"args,omitempty" jsonschema_description:"Its arguments."`
	Env                 map[string]secret `json:"env,omitempty" jsonschema_description:"Its environment, beside PATH, HOME, LANG and TMPDIR; standin's own is not passed on."`
	Cwd                 string            `json:"cwd,omitempty" jsonschema_description:"Its working directory, relative to the config file. Default: standin's own."`
	URL                 string            `json:"url,omitempty" jsonschema_description:"Instead of a program: where the server is reached. Plain http only on this machine."`
	Headers             map[string]secret `json:"headers,omitempty" jsonschema_description:"Sent along with every request to url."`
	Allow               []string          `json:"allow,omitempty" jsonschema_description:"Which of its tools are used, by the server's own names; * stands for any letters. Default: all."`
	Deny                []string          `json:"deny,omitempty" jsonschema_description:"Which are not."`
	Everyone            bool              `json:"everyone,omitempty" jsonschema:"default=false" jsonschema_description:"Whether everybody who may talk to an agent may have it use these tools; otherwise only the owner may."`
	Trusted             bool              `json:"trusted,omitempty" jsonschema:"default=false" jsonschema_description:"Whether what its tools give back is never written by strangers. Otherwise tools that act for the owner are out of reach for the rest of a turn that has read it."`
	StartTimeoutSeconds int               `json:"startTimeoutSeconds,omitempty" jsonschema:"minimum=1,maximum=600,default=30" jsonschema_description:"How long it may take to come up, in seconds."`
	CallTimeoutSeconds  int               `json:"callTimeoutSeconds,omitempty" jsonschema:"minimum=1,maximum=3600" jsonschema_description:"Longest time of one use, in seconds. Default: tools.timeoutSeconds."`
}

// secretName is a name behind which people keep secrets.
var secretName = regexp.MustCompile(`(?i)key|token|secret|passw|auth|cookie|credential`)

// readServers reads mcp.servers.
func (c *compiler) readServers() (list []mcp.Server) {
	at := Path{"mcp", "servers"}
	for _, name := range sortedKeys(c.doc.MCP.Servers) {
		k, p := c.doc.MCP.Servers[name], at.Key(name)
		s := mcp.Server{
			Name: name, URL: strings.TrimSpace(k.URL), Dir: c.folder(k.Cwd), Allow: k.Allow, Deny: k.Deny, Everyone: k.Everyone, Trusted: k.Trusted,
			Start: time.Duration(k.StartTimeoutSeconds) * time.Second, Call: time.Duration(k.CallTimeoutSeconds) * time.Second,
		}
		if k.Command != "" {
			s.Command = append([]string{k.Command}, k.Args...)
		}
		sound := true
		for _, v := range sortedKeys(k.Env) {
			q := p.Key("env").Key(v)
			if !variableName.MatchString(v) {
				c.reportKey(q, "is no name of an environment variable", "use letters, digits and _")
			}
			value, ok := c.passed(k.Env[v], v, q)
			s.Env, sound = append(s.Env, v+"="+value), sound && ok
			if k.Env[v].Source != "" || secretName.MatchString(v) {
				s.Secrets = append(s.Secrets, provider.NewKey(value))
			}
		}
		for _, h := range sortedKeys(k.Headers) {
			value, ok := c.passed(k.Headers[h], h, p.Key("headers").Key(h))
			set(&s.Headers, h, provider.NewKey(value))
			if k.Headers[h].Source != "" || secretName.MatchString(h) {
				s.Secrets = append(s.Secrets, provider.NewKey(value))
			}
			sound = sound && ok
		}
		if err := s.Check(); err != nil {
			c.reportKey(p, err.Error(), "")
			continue
		}
		c.unused(k, p)
		c.patternsOfTools(k.Allow, p.Key("allow"))
		c.patternsOfTools(k.Deny, p.Key("deny"))
		if sound {
			list = append(list, s)
		}
	}
	return list
}

// unused tells of keys that mean nothing for the kind of server.
func (c *compiler) unused(k mcpServerKeys, p Path) {
	for key, given := range map[string]bool{"args": len(k.Args) > 0, "env": len(k.Env) > 0, "cwd": k.Cwd != ""} {
		if given && k.Command == "" {
			c.warn(p.Key(key), "is not used with url: nothing is run here", "remove it")
		}
	}
	if len(k.Headers) > 0 && k.URL == "" {
		c.warn(p.Key("headers"), "is not used with command: nothing is sent over the web", "remove it, or put it into env")
	}
}

// passed reads a value that goes to a server as it is, spaces included.
func (c *compiler) passed(s secret, name string, p Path) (string, bool) {
	if s.Source != "" {
		return c.referred(s, p)
	}
	if n, written := c.root.At(p); written && n.Kind == Text && !n.expanded && s.Text != "" && secretName.MatchString(name) {
		c.warn(p, "the secret stands in the file as plain text", "put it into a variable and write ${"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))+"}")
	}
	if strings.ContainsAny(s.Text, "\r\n\x00") {
		c.report(p, "holds a line break", "")
		return "", false
	}
	return s.Text, true
}

// referred reads what a reference leads to [G6].
func (c *compiler) referred(s secret, p Path) (string, bool) {
	text := ""
	if s.Source == "env" {
		if text = c.getenv(s.ID); text == "" {
			c.report(p.Key("id"), "the variable "+c.shown(p.Key("id"), s.ID)+" is not set, or empty", "set it in the environment of standin")
			return "", false
		}
	} else {
		data, err := ReadBounded(c.folder(s.ID), maxSecret)
		if err != nil {
			c.report(p.Key("id"), "the file cannot be read: "+ReasonOf(err), "its path is relative to the config file")
			return "", false
		}
		text = string(data)
	}
	if text = strings.TrimSpace(text); text == "" || len(text) > maxSecret || strings.ContainsAny(text, "\r\n\x00") {
		c.report(p, "leads to something that is not one line of text", "")
		return "", false
	}
	return text, true
}

// folder reads a path that starts from the config file's folder, or from the home
// folder.
func (c *compiler) folder(dir string) string {
	if dir = c.home(dir); dir == "" || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(c.Base, dir)
}
