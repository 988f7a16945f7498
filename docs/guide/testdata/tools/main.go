package main

import (
	"context"
	"fmt"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/mcptool"
	"log"
)

type city struct {
	Name string `json:"name" jsonschema:"the city's name"`
}

type weather struct {
	Degrees int    `json:"degrees"`
	Sky     string `json:"sky"`
}

func main() {
	look := mcptool.NewTool("weather", "The weather of a city.", func(ctx context.Context, in city) (weather, error) {
		if in.Name != "Oslo" {
			return weather{}, fmt.Errorf("%s is not known", in.Name) // the model sees it
		}
		return weather{Degrees: -3, Sky: "clear"}, nil
	})
	opts := &claude.Options{
		MCPServers:   map[string]claude.MCPServer{"meteo": {Server: mcptool.NewToolServer("meteo", "1.0.0", look, slow())}},
		AllowedTools: []string{"mcp__meteo__weather"},
	}
	result, err := claude.Run(context.Background(), "How is the weather in Oslo?", opts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Result)
}

func slow() mcptool.Tool {
	return mcptool.NewTool("reindex", "Rebuilds the index.", func(ctx context.Context, _ struct{}) (string, error) {
		call := mcptool.CallInfo(ctx)
		for i := range 3 {
			if err := call.Progress(ctx, float64(i), 3, "working"); err != nil {
				return "", err
			}
		}
		return "done", nil
	})
}

func outside() *claude.Options {
	return &claude.Options{
		MCPServers: map[string]claude.MCPServer{
			"files": {Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "."}},
			"wiki":  {Type: "http", URL: "https://wiki.example.com/mcp", Headers: map[string]string{"Authorization": "Bearer …"}},
		},
		StrictMCPConfig: true,             // only these, and none from settings
		RequireMCP:      []string{"wiki"}, // Connect and Query fail with *claude.MCPNotReadyError otherwise
	}
}
