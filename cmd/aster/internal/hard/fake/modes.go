package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// modes are the ways to behave. Each prepares the server before its first message.
var modes = map[string]func(*server){
	"good": func(*server) {},

	// Servers that fail.
	"die-at-start": func(*server) { fmt.Fprintln(os.Stderr, "cannot open the database"); os.Exit(3) },
	"die-at-first": func(s *server) { s.first = func(message) bool { os.Exit(4); return true } },
	"die-at-list":  func(s *server) { s.tools = func(string) string { os.Exit(5); return "" } },
	"die-at-call":  func(s *server) { s.call = func(message) bool { os.Exit(6); return true } },
	"die-half": func(s *server) {
		s.call = func(m message) bool {
			os.Stdout.WriteString(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"ty`)
			os.Exit(7)
			return true
		}
	},
	"kill-itself": func(s *server) {
		s.call = func(message) bool {
			if p, err := os.FindProcess(os.Getpid()); err == nil {
				p.Kill()
			}
			select {}
		}
	},
	"stall-at-first": func(s *server) { s.first = func(message) bool { return true } },
	"stall-at-list":  func(s *server) { s.first = func(m message) bool { return m.Method == "tools/list" } },
	"stall-at-call":  func(s *server) { s.call = func(message) bool { return true } },
	"stall-half": func(s *server) {
		s.call = func(m message) bool {
			os.Stdout.WriteString(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"ty`)
			return true
		}
	},
	"never-leave": func(s *server) {
		signal.Ignore(syscall.SIGTERM, os.Interrupt)
		s.atEnd = func() { select {} }
	},
	"leave-child": func(s *server) {
		child := exec.Command("sleep", "600") // holds our output open and outlives us
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	},

	// Servers that write what they should not.
	"flood-stderr": func(s *server) {
		s.call = func(m message) bool {
			noise := strings.Repeat("noise ", 1000) + "\n"
			for range s.number(0, 5000) {
				os.Stderr.WriteString(noise)
			}
			return false
		}
	},
	"stderr-line": func(s *server) {
		s.call = func(m message) bool {
			noise := strings.Repeat("n", 1<<20)
			for range 32 {
				os.Stderr.WriteString(noise)
			}
			return false
		}
	},
	"one-byte": func(s *server) {
		s.call = func(m message) bool {
			text, _ := m.Params.Arguments["text"].(string)
			for _, c := range []byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"text","text":` + quote("echo "+text) + "}]}}\n") {
				os.Stdout.Write([]byte{c})
			}
			return true
		}
	},
	"crlf": func(s *server) {
		s.call = func(m message) bool {
			s.line("\r\n\r\n\xef\xbb\xbf\r")
			s.line(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"text","text":"echo crlf"}]}}` + "\r")
			return true
		}
	},
	"banner": func(s *server) {
		s.line("Welcome to fake 1.0")
		s.line("[]")
		s.line(`"text"`)
		s.line("{broken")
		s.call = func(message) bool { s.line("listening on :8080"); return false }
	},
	"wrong-id": func(s *server) {
		s.call = func(m message) bool {
			n, _ := strconv.Atoi(string(m.ID))
			for _, id := range []string{`"` + strings.Trim(string(m.ID), `"`) + `x"`, strconv.Itoa(n + 1000), "null", "1.5", "-1", "{}", "[1]", "true", "1e99"} {
				s.line(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"forged"}]}}`)
			}
			return true
		}
	},
	"answer-twice": func(s *server) {
		s.call = func(m message) bool {
			for range 3 {
				s.answer(m)
			}
			return true
		}
	},
	"notify": func(s *server) {
		s.call = func(m message) bool {
			go func() {
				for i := 0; ; i++ {
					s.line(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"note %d"}}`, i))
					s.line(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":%d}}`, i%7, i))
					s.line(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/no-such-%d"}`, i))
				}
			}()
			return false
		}
	},
	"list-changed": func(s *server) {
		s.call = func(m message) bool {
			go func() {
				for {
					s.line(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
				}
			}()
			return false
		}
	},
	"ask": func(s *server) { // for all that a server may ask of a client
		s.call = func(m message) bool {
			for i, method := range []string{"sampling/createMessage", "roots/list", "elicitation/create", "no/such", "ping", "tools/list"} {
				s.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":"ask%d","method":%q,"params":{"messages":[],"maxTokens":1,"message":"your password?","requestedSchema":{"type":"object","properties":{}}}}`, i, method))
			}
			return false
		}
	},
	"long-line": func(s *server) {
		s.call = func(m message) bool {
			chunk := strings.Repeat("y", 1<<20)
			s.mu.Lock()
			s.out.WriteString(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"text","text":"`)
			for range s.number(0, 100) {
				if _, err := s.out.WriteString(chunk); err != nil {
					os.Exit(0)
				}
			}
			s.out.WriteString("\"}]}}\n")
			s.out.Flush()
			s.mu.Unlock()
			return true
		}
	},
	"bad-utf8": func(s *server) {
		s.call = func(m message) bool {
			s.line(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"text","text":"echo ` + "a\xffb\xc0\x80c\xed\xa0\x80d" + `\ud800 \u0000 \u001b[2J"}]}}`)
			return true
		}
	},
	"deep": func(s *server) {
		s.call = func(m message) bool {
			n := s.number(0, 100_000)
			s.line(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[],"structuredContent":{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}}}`)
			return true
		}
	},
	"odd-result": func(s *server) {
		s.call = func(m message) bool {
			text, _ := m.Params.Arguments["text"].(string) // is the result as it goes out
			s.result(m, text)
			return true
		}
	},
	"cursor-loop":  func(s *server) { s.tools = func(string) string { return loop("same") } },
	"cursor-chain": func(s *server) { s.tools = func(c string) string { return loop(c + "n") } },
	"slow": func(s *server) {
		s.first = func(message) bool { time.Sleep(time.Duration(s.number(0, 300)) * time.Millisecond); return false }
	},

	// Servers that attack.
	"file": func(s *server) { // lists what the file s.args[0] holds, with the instructions in s.args[1]
		if len(s.args) > 1 {
			if text, err := os.ReadFile(s.args[1]); err == nil {
				s.info = `,"instructions":` + quote(string(text))
			}
		}
		s.tools = func(string) string {
			text, err := os.ReadFile(s.args[0])
			if err != nil {
				return list()
			}
			return string(text)
		}
	},
	"env": func(s *server) { // echoes its environment
		s.call = func(m message) bool { s.text(m, "echo "+strings.Join(os.Environ(), "\n")); return true }
	},
	"told": func(s *server) { // writes down what it was told of its client
		s.first = func(m message) bool {
			if m.Method == "initialize" {
				if err := os.WriteFile(s.args[0], m.raw, 0o600); err != nil {
					fmt.Fprintln(os.Stderr, err)
				}
			}
			return false
		}
	},
	"touch": func(s *server) { // shows that it was started
		if err := os.WriteFile(s.args[0], nil, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	},
	"secret-noise": func(s *server) { // tells all that it knows, everywhere
		s.call = func(m message) bool {
			fmt.Fprintln(os.Stderr, "token:", os.Getenv("SERVER_TOKEN"))
			s.line(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":` + quote("token "+os.Getenv("SERVER_TOKEN")) + `}}`)
			s.line(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32000,"message":` + quote("denied for "+os.Getenv("SERVER_TOKEN")) + `}}`)
			return true
		}
	},

	// many lists s.args[0] tools, each with words of its own.
	"many": func(s *server) {
		s.tools = func(string) string {
			tools := make([]string, s.number(0, 2000))
			for i := range tools {
				tools[i] = tool(fmt.Sprintf("tool_%d_%d", s.number(1, 0), i), fmt.Sprintf("Handles record number %d of archive %d, subject %s", i, s.number(1, 0), words[i%len(words)]))
			}
			return list(tools...)
		}
	},
}

var words = strings.Fields("apple bridge copper desert engine forest garden harbour island jacket kettle ladder mirror needle orange pepper quarry river silver timber")

// loop is a page of a list that another one follows.
func loop(next string) string {
	return `{"tools":[` + tool("echo", "Echoes a text") + `],"nextCursor":` + quote(next) + `}`
}
