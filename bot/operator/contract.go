package operator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// base is where the API stands.
const base = "/api/v1"

// object is a JSON object in the making; its fields are sorted when it is written.
type object map[string]any

// contract is the OpenAPI document of the routes. Each schema is made of the Go
// type that is sent, so what is promised is what is written.
func contract(all []route, version string) object {
	s := schemas{object{}, map[string]reflect.Type{}}
	failure := s.of(reflect.TypeFor[Failure]())
	paths := object{}
	for _, r := range all {
		p := r.fullPath()
		if paths[p] == nil {
			paths[p] = object{}
		}
		paths[p].(object)[strings.ToLower(r.method)] = r.operation(s, failure)
	}
	return object{
		"openapi": "3.1.0",
		"info": object{"title": "standin", "version": version,
			"description": "What the operator of a standin daemon sees and does. Times are RFC 3339. Lists are never null. Errors are Failure. A request that changes something from a browser must come from the page itself. Behind a token: Authorization: Bearer <token>, or the cookie of /login."},
		"paths": paths,
		"components": object{"schemas": s.named, "securitySchemes": object{
			bearsToken: object{"type": "http", "scheme": "bearer"},
			"cookie":   object{"type": "apiKey", "in": "cookie", "name": cookieName},
		}},
		"security": []any{object{bearsToken: []any{}}, object{"cookie": []any{}}},
	}
}

func (r route) fullPath() string {
	if r.rooted {
		return r.path
	}
	return base + r.path
}

var pathValue = regexp.MustCompile(`\{(\w+)\}`)

func (r route) operation(s schemas, failure object) object {
	o := object{"operationId": r.id, "summary": r.says}
	var params []any
	for _, m := range pathValue.FindAllStringSubmatch(r.path, -1) {
		params = append(params, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, q := range r.query {
		kind := object{"type": q.kind}
		if q.kind == "date-time" {
			kind = object{"type": "string", "format": "date-time"}
		}
		params = append(params, object{"name": q.name, "in": "query", "description": q.says, "schema": kind})
	}
	if params != nil {
		o["parameters"] = params
	}
	if r.body != nil {
		o["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": s.of(reflect.TypeOf(r.body))}}}
	}
	good := object{"description": "As asked."}
	switch {
	case r.answer != nil:
		good["content"] = object{"application/json": object{"schema": s.of(reflect.TypeOf(r.answer))}}
	case r.media != "":
		good["content"] = object{r.media: object{}}
	}
	o["responses"] = object{
		strconv.Itoa(r.success()): good,
		"default":                 object{"description": "It was not done, and why.", "content": object{"application/json": object{"schema": failure}}},
	}
	if r.free {
		o["security"] = []any{}
	}
	return o
}

func (r route) success() int {
	if r.status != 0 {
		return r.status
	}
	return http.StatusOK
}

// schemas makes schemas of Go types; structs that have a name are kept under it.
type schemas struct {
	named object
	types map[string]reflect.Type
}

var (
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
	specType = reflect.TypeFor[jobSpec]()
)

func (s schemas) of(t reflect.Type) object {
	switch t {
	case timeType:
		return object{"type": "string", "format": "date-time"}
	case rawType, specType:
		return object{"type": "object", "additionalProperties": true}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		return s.ref(t)
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	default:
		return object{"type": "integer"}
	}
}

// ref gives the reference to a struct's schema, and makes that at first use.
func (s schemas) ref(t reflect.Type) object {
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if known, ok := s.types[name]; ok && known != t {
		panic(fmt.Sprintf("the contract would call both %v and %v %s", known, t, name))
	} else if !ok {
		s.types[name] = t
		o := object{"type": "object", "additionalProperties": false}
		fields, required := object{}, []string{}
		s.fields(t, fields, &required)
		o["properties"] = fields
		if len(required) > 0 {
			slices.Sort(required)
			o["required"] = required
		}
		s.named[name] = o
	}
	return object{"$ref": "#/components/schemas/" + name}
}

func (s schemas) fields(t reflect.Type, fields object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			s.fields(f.Type, fields, required)
			continue
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			name = f.Name
		}
		o := s.of(f.Type)
		if says := f.Tag.Get("doc"); says != "" {
			o["description"] = says
		}
		if words := f.Tag.Get("enum"); words != "" {
			o["enum"] = strings.Split(words, ",")
		}
		fields[name] = o
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			*required = append(*required, name)
		}
	}
}

// serveContract serves the document.
func (s *Server) serveContract(c *call) {
	s.contractOnce.Do(func() {
		text, err := json.Marshal(contract(s.all, contractVersion))
		if err != nil {
			s.Log.Error("the contract cannot be written", "err", err)
		}
		s.contractJSON = text
	})
	c.w.Header().Set("Content-Type", "application/json")
	_, _ = c.w.Write(s.contractJSON)
}

// contractVersion counts the changes that others have to follow.
const contractVersion = "1"
