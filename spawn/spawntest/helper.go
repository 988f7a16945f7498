package spawntest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// behaviourVar is the environment variable that makes a process the helper.
const behaviourVar = "SPAWNTEST_BEHAVIOUR"

// Main runs the helper and does not return if the suite has started this process as one. Otherwise it has no effect.
func Main() {
	name := os.Getenv(behaviourVar)
	if name == "" {
		return
	}
	play := behaviours[name]
	if play == nil {
		fmt.Fprintln(os.Stderr, "spawntest: no behaviour", name)
		os.Exit(99)
	}
	play(os.Args[1:])
	os.Exit(0)
}

// behaviours are the actions of the helper, with their arguments.
var behaviours = map[string]func(args []string){
	"echo":   func([]string) { _, _ = io.Copy(os.Stdout, os.Stdin) },
	"args":   func(args []string) { fmt.Printf("%q\n", args) },
	"env":    func([]string) { fmt.Println(strings.Join(os.Environ(), "\n")) },
	"dir":    func([]string) { printDir() },
	"pid":    func([]string) { fmt.Println(os.Getpid()); drain() },
	"cat":    func(args []string) { printFiles(args) },
	"exit":   func(args []string) { os.Exit(number(args)) },
	"both":   func([]string) { fmt.Println("to stdout"); fmt.Fprintln(os.Stderr, "to stderr") },
	"burst":  func(args []string) { _, _ = os.Stdout.Write(Bytes(number(args))) },
	"prompt": func([]string) { prompt() },
	"hang":   func([]string) { fmt.Println("ready"); forever() },
	"term":   func([]string) { awaitTerm() },
	"parent": func([]string) { startChild() },
	"deaf":   func([]string) { signal.Ignore(os.Interrupt, syscall.SIGTERM); fmt.Println("ready"); forever() },
}

// Bytes returns n bytes that reveal changes by a stream: all values, lines of many lengths.
func Bytes(n int) []byte {
	b := make([]byte, n)
	state := uint32(1)
	for i := range b {
		state = state*1664525 + 1013904223
		b[i] = byte(state >> 24)
	}
	return b
}

func number(args []string) int {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		panic(err)
	}
	return n
}

func drain() { _, _ = io.Copy(io.Discard, os.Stdin) }

func printDir() {
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	fmt.Println(dir, err)
}

func printFiles(args []string) {
	for _, name := range args {
		text, err := os.ReadFile(name)
		fmt.Printf("%s %v\n", text, err)
	}
	drain()
}

// prompt writes a part of a line and continues after an answer.
func prompt() {
	fmt.Print("name? ")
	name, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	fmt.Print("hello ", name)
}

func awaitTerm() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	fmt.Println("ready")
	<-c
	fmt.Println("asked")
	os.Exit(7)
}

// startChild starts a process that holds the streams of this one and exits only when it is killed.
func startChild() {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), behaviourVar+"=deaf")
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		panic(err)
	}
	forever()
}

// forever waits without an end. The timer keeps the runtime from reporting a deadlock.
func forever() {
	for range time.Tick(time.Hour) {
	}
}
