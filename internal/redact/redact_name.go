package redact

import (
	"slices"
	"strings"
	"unicode"
)

// secretWords are the suffixes of secret names, in snake case.
var secretWords = []string{
	"api_key", "apikey", "access_key", "access_key_id", "secret_key", "private_key", "signing_key", "encryption_key", "auth_key", "account_key", "storage_key", "shared_key",
	"token", "secret", "password", "passwd", "passphrase", "authorization", "cookie", "credential", "credentials",
	"pgpassword", "sshpass", "rediscli_auth", "_auth", "secret_key_base", "clientsecret", "accesstoken", "authtoken", "refreshtoken", "identitytoken", "secretkey",
	"accesskey", "dbpass", "db_pass", "user_pass", "smtp_pass", "mail_pass", "ftp_pass", "sftp_pass", "mysql_pass",
}

// upperWords are the suffixes of secret variable names, in capitals.
var upperWords = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASS", "PWD", "CREDENTIALS"}

// notSecret are names of the protocol that only look secret.
var notSecret = []string{"progress_token"}

// secretName reports whether the value of a name is secret: apiKey, x-api-key, MY_TOKEN, db.password.
func secretName(name string) bool {
	if name == strings.ToUpper(name) {
		for _, word := range upperWords {
			if strings.HasSuffix(name, "_"+word) {
				return true
			}
		}
	}
	snake := snakeCase(name)
	if slices.Contains(notSecret, snake) {
		return false
	}
	return slices.ContainsFunc(secretWords, func(word string) bool { return snake == word || strings.HasSuffix(snake, "_"+word) })
}

func snakeCase(name string) string {
	var b strings.Builder
	lower := false
	for _, c := range name {
		switch {
		case c == '-' || c == '.' || c == ' ' || c == '/':
			c, lower = '_', false
		case unicode.IsUpper(c):
			if lower {
				b.WriteByte('_')
			}
			lower = false
		default:
			lower = unicode.IsLower(c) || unicode.IsDigit(c)
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// reference is a shell variable, or another reference to a value.
var reference = compiled(`^\$(?:\w*|[{(].*|\w+:.*)[^\w!$]*$`)

// harmless reports whether a value is not a secret despite its name: a reference to a variable, the name of a
// type, or empty.
func harmless(value string) bool {
	if reference().MatchString(value) || value == Redacted {
		return true
	}
	switch strings.ToLower(value) {
	case "", "null", "nil", "none", "undefined", "true", "false", "string", "number", "boolean", "bool", "int", "str", "required", "optional":
		return true
	}
	return false
}

// assignment is a name and the text between it and its value. In nested JSON the quotes are escaped.
var assignment = compiled(`(?i)([\w.-]*(?:api key|key|key_id|secret_key_base|_auth|token|secret|passwd|password|passphrase|pass|pwd|authorization|cookie|credentials?))` +
	`(\\*["']?\]?\s*(?:=>|=\\+u003[eE]|:=|=|:)\s*)`)

// query is a parameter of a URL with a generic name for a key.
var query = compiled(`(?i)([?&](?:key|sig|signature|x-amz-signature)=)[^\s&"'\\]{8,}`)

// redactAssignments redacts values assigned to secret names.
func redactAssignments(s string) string {
	var b strings.Builder
	for {
		m := assignment().FindStringSubmatchIndex(s)
		if m == nil {
			b.WriteString(s)
			return b.String()
		}
		name, rest := s[m[2]:m[3]], s[m[1]:]
		b.WriteString(s[:m[1]])
		if comparison := strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, ":"); secretName(name) && !comparison {
			before, value, after := assigned(name, rest)
			if !harmless(value) {
				value = Redacted
			}
			b.WriteString(before + value)
			rest = after
		}
		s = rest
	}
}

// yamlBlock is a value on the lines below its name.
var yamlBlock = compiled(`(?m)\A[|>][+-]?\d?[ \t]*(?:(?:\r?\n|\\+n)[ \t]+[^\s\\][^\n\\]*(?:\n[ \t]+[^\s:][^:\n]*$)*|[ \t][^\s\\]+)`)

var openingQuote = compiled("^\\\\*[\"'`]")

// closingQuote returns the end of a quoted text, or the length of s if it is cut off. An escaped quote is
// part of the text.
func closingQuote(s, quote string) int {
	for at := 0; ; {
		i := strings.Index(s[at:], quote)
		if i < 0 {
			return len(s)
		}
		if at += i; at == 0 || s[at-1] != '\\' {
			return at
		}
		at += len(quote)
	}
}

// assigned splits the text after a name into the separator, the value, and the rest.
func assigned(name, s string) (before, value, after string) {
	if quote := openingQuote().FindString(s); quote != "" {
		s = s[len(quote):]
		end := closingQuote(s, quote)
		return quote, s[:end], s[end:]
	}
	stop := " \t\r\n\"'\\,;&`"
	if n := snakeCase(name); strings.HasSuffix(n, "authorization") || strings.HasSuffix(n, "cookie") {
		stop = "\r\n\"'\\`" // a header extends to the end of its line
	}
	if block := yamlBlock().FindString(s); block != "" {
		return "", block, s[len(block):]
	}
	end := strings.IndexAny(s, stop)
	if end < 0 {
		end = len(s)
	}
	return "", s[:end], s[end:]
}
