package server

import (
	"reflect"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/session"
)

// The bounds of strings in the parameters of a call. Lists of sessions, tokens, webhooks and workspaces repeat most of them.
const (
	maxShort     = 4 << 10  // bytes of a name, a path, an id, an element of a list
	maxShortList = 64 << 10 // bytes of a list
)

// long lists the parameters that are limited only by the size of the body: prompts, texts, contents, and lists of
// existing objects.
var long = map[string]bool{
	"ConnectParams.SystemPrompt": true, "ConnectParams.AppendSystemPrompt": true, "ConnectParams.InitialPrompt": true,
	"QueryParams.Text": true, "ContextBuildParams.Text": true, "ContextParseParams.Text": true, "ImageUploadParams.Data": true,
	"PermissionRespondParams.Reason": true, "WorkspaceCreateParams.Setup": true, "WorkspaceCommitParams.Message": true,
	"WorkspaceRevertParams.Hunk": true, "ReviewCommentParams.Hunk": true, "ReviewCommentParams.Text": true, "ReviewUpdateParams.Text": true,
	"ReviewSendParams.Text": true, "QueueReorderParams.IDs": true, "ReviewSendParams.IDs": true, "WorkspaceCommitParams.Files": true,
}

// checkShort returns an error if a string in the parameters of a call is too long. In a list that
// may be long, each element must still be short.
func checkShort(params reflect.Value) error { return checkShortAt(params, "", false) }

func checkShortAt(v reflect.Value, name string, isLong bool) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return checkShortAt(v.Elem(), name, isLong)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			if err := checkShortAt(v.Field(i), f.Name, long[v.Type().Name()+"."+f.Name]); err != nil {
				return err
			}
		}
	case reflect.Slice:
		return checkShortList(v, name, isLong)
	case reflect.Map:
		return checkShortMap(v, name)
	case reflect.String:
		if v.Type() != reflect.TypeFor[event.JSON]() && !isLong && v.Len() > maxShort {
			return session.Invalid("%s has %d bytes, and at most %d", name, v.Len(), maxShort)
		}
	}
	return nil
}

// checkShortMap limits the total size of the names and values of a map.
func checkShortMap(v reflect.Value, name string) error {
	size := 0
	for it := v.MapRange(); it.Next(); {
		for _, one := range []reflect.Value{it.Key(), it.Value()} {
			if err := checkShortAt(one, name, false); err != nil {
				return err
			}
			if one.Kind() == reflect.String {
				size += one.Len() + 1
			}
		}
	}
	if size > maxShortList {
		return session.Invalid("%s has %d bytes, and at most %d", name, size, maxShortList)
	}
	return nil
}

func checkShortList(v reflect.Value, name string, isLong bool) error {
	size := 0
	for i := range v.Len() {
		one := v.Index(i)
		if err := checkShortAt(one, name, false); err != nil {
			return err
		}
		if one.Kind() == reflect.String && one.Type() != reflect.TypeFor[event.JSON]() {
			size += one.Len() + 1
		}
	}
	if size > maxShortList && !isLong {
		return session.Invalid("%s has %d bytes, and at most %d", name, size, maxShortList)
	}
	return nil
}
