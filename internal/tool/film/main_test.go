package main

import (
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write stores a shot of 8 by 4 pixels with one red pixel.
func write(t *testing.T, name string, at image.Point, size image.Point) {
	t.Helper()
	m := image.NewRGBA(image.Rectangle{Max: size})
	for i := range m.Pix {
		m.Pix[i] = 255
	}
	m.Set(at.X, at.Y, color.RGBA{R: 255, A: 255})
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, m); err != nil {
		t.Fatal(err)
	}
}

func TestRun(t *testing.T) {
	dir, size := t.TempDir(), image.Pt(8, 4)
	write(t, filepath.Join(dir, "2-500.png"), image.Pt(1, 1), size)
	write(t, filepath.Join(dir, "10-300.png"), image.Pt(5, 2), size)
	write(t, filepath.Join(dir, "3-100.png"), image.Pt(1, 1), size)
	out := filepath.Join(t.TempDir(), "a.gif")
	if err := run(dir, out); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, err := gif.DecodeAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Image) != 2 || g.Delay[0] != 60 || g.Delay[1] != 30 {
		t.Fatalf("there are %d frames with the delays %v, want 2 with 60 and 30", len(g.Image), g.Delay)
	}
	if r := g.Image[1].Rect; r != image.Rect(1, 1, 6, 3) {
		t.Errorf("the second frame covers %v, want what changed, (1,1)-(6,3)", r)
	}
	for _, tt := range []struct {
		frame, x, y int
		green       bool
	}{{0, 1, 1, false}, {0, 5, 2, true}, {1, 1, 1, true}, {1, 5, 2, false}} {
		if _, green, _, _ := g.Image[tt.frame].At(tt.x, tt.y).RGBA(); (green > 0) != tt.green {
			t.Errorf("frame %d has at %d,%d the green %d, want white %v", tt.frame, tt.x, tt.y, green, tt.green)
		}
	}
}

func TestRun_fails(t *testing.T) {
	for name, make := range map[string]func(dir string){
		"has no PNG file": func(string) {},
		"is not named":    func(dir string) { write(t, filepath.Join(dir, "a.png"), image.Pt(0, 0), image.Pt(2, 2)) },
		"has the bounds": func(dir string) {
			write(t, filepath.Join(dir, "1-10.png"), image.Pt(0, 0), image.Pt(2, 2))
			write(t, filepath.Join(dir, "2-10.png"), image.Pt(0, 0), image.Pt(3, 2))
		},
	} {
		dir := t.TempDir()
		make(dir)
		if err := run(dir, filepath.Join(t.TempDir(), "a.gif")); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("the error is %v, want one with %q", err, name)
		}
	}
}
