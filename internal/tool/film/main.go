// Film joins screenshots into one moving picture.
//
//	film -o OUT.gif DIRECTORY
//
// The directory has PNG files of one size, named NUMBER-MILLISECONDS.png: their order, and how long each is shown. A frame of
// the result has only the rectangle that changed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	out := flag.String("o", "film.gif", "the file to write")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *out); err != nil {
		fmt.Fprintln(os.Stderr, "film:", err)
		os.Exit(1)
	}
}

func run(dir, out string) error {
	shots, err := read(dir)
	if err != nil {
		return err
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	return errors.Join(gif.EncodeAll(f, film(shots)), f.Close())
}

// shot is a screenshot and its duration in hundredths of a second.
type shot struct {
	image image.Image
	delay int
}

// read returns the screenshots of a directory, in their order.
func read(dir string) ([]shot, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.png"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no PNG file", dir)
	}
	slices.SortFunc(names, func(a, b string) int { return number(a) - number(b) })
	var shots []shot
	for _, name := range names {
		_, text, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".png"), "-")
		ms, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%s is not named NUMBER-MILLISECONDS.png", name)
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		m, err := png.Decode(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(shots) > 0 && m.Bounds() != shots[0].image.Bounds() {
			return nil, fmt.Errorf("%s has the bounds %v, the first file %v", name, m.Bounds(), shots[0].image.Bounds())
		}
		shots = append(shots, shot{m, ms / 10})
	}
	return shots, nil
}

// number returns the number that a file name begins with.
func number(name string) int {
	text, _, _ := strings.Cut(filepath.Base(name), "-")
	n, _ := strconv.Atoi(text) // without a number it is 0, and read reports the name
	return n
}

// film returns the moving picture. Equal shots in a row become one frame.
func film(shots []shot) *gif.GIF {
	palette := colors(shots)
	known := map[color.RGBA]uint8{}
	result := &gif.GIF{Config: image.Config{ColorModel: palette, Width: shots[0].image.Bounds().Dx(), Height: shots[0].image.Bounds().Dy()}}
	var last *image.Paletted
	for _, s := range shots {
		frame := reduce(s.image, palette, known)
		changed := frame.Rect
		if last != nil {
			changed = difference(last, frame)
		}
		if changed.Empty() {
			result.Delay[len(result.Delay)-1] += s.delay
			continue
		}
		result.Image = append(result.Image, frame.SubImage(changed).(*image.Paletted))
		result.Delay = append(result.Delay, s.delay)
		result.Disposal = append(result.Disposal, gif.DisposalNone)
		last = frame
	}
	return result
}

// coarse returns a colour with five bits for each channel.
func coarse(c color.Color) color.RGBA {
	r, g, b, _ := c.RGBA()
	fine := func(v uint32) uint8 { v >>= 11; return uint8(v<<3 | v>>2) }
	return color.RGBA{fine(r), fine(g), fine(b), 255}
}

// colors returns the 256 most frequent colours of the shots.
func colors(shots []shot) color.Palette {
	count := map[color.RGBA]int{}
	for _, s := range shots {
		b := s.image.Bounds()
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				count[coarse(s.image.At(x, y))]++
			}
		}
	}
	all := make([]color.RGBA, 0, len(count))
	for c := range count {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int {
		if d := count[b] - count[a]; d != 0 {
			return d
		}
		return int(a.R)<<16 + int(a.G)<<8 + int(a.B) - int(b.R)<<16 - int(b.G)<<8 - int(b.B)
	})
	var palette color.Palette
	for _, c := range all[:min(len(all), 256)] {
		palette = append(palette, c)
	}
	return palette
}

// reduce converts an image to the colours of the palette. known caches the nearest colours.
func reduce(m image.Image, palette color.Palette, known map[color.RGBA]uint8) *image.Paletted {
	b := m.Bounds()
	result := image.NewPaletted(b, palette)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := coarse(m.At(x, y))
			i, ok := known[c]
			if !ok {
				i = uint8(palette.Index(c))
				known[c] = i
			}
			result.SetColorIndex(x, y, i)
		}
	}
	return result
}

// difference returns the smallest rectangle outside of which two images are equal.
func difference(a, b *image.Paletted) (changed image.Rectangle) {
	for y := a.Rect.Min.Y; y < a.Rect.Max.Y; y++ {
		for x := a.Rect.Min.X; x < a.Rect.Max.X; x++ {
			if a.ColorIndexAt(x, y) != b.ColorIndexAt(x, y) {
				changed = changed.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return changed
}
