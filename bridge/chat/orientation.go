package chat

import (
	"encoding/binary"
	"image"
	"image/color"
)

// Exif orientation (CIPA DC-008, tag 0x0112). Encoding anew drops it, so the
// image is turned upright first.
const (
	tagOrientation = 0x0112
	maxIFDEntries  = 512
)

// orientation returns the Exif orientation of a JPEG, 1 to 8, and 1 where there
// is none to be read.
func orientation(jpeg []byte) int {
	for i := 2; i+4 <= len(jpeg) && jpeg[i] == 0xff; {
		marker, size := jpeg[i+1], int(binary.BigEndian.Uint16(jpeg[i+2:]))
		if marker == 0xda || size < 2 || i+2+size > len(jpeg) {
			return 1
		}
		segment := jpeg[i+4 : i+2+size]
		if marker == 0xe1 && len(segment) > 14 && string(segment[:6]) == "Exif\x00\x00" {
			return tiffOrientation(segment[6:])
		}
		i += 2 + size
	}
	return 1
}

func tiffOrientation(b []byte) int {
	var order binary.ByteOrder
	switch string(b[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 1
	}
	at := int(order.Uint32(b[4:]))
	if at < 8 || at > len(b)-2 {
		return 1
	}
	n := int(order.Uint16(b[at:]))
	for i := range min(n, maxIFDEntries) {
		e := at + 2 + 12*i
		if e+12 > len(b) {
			return 1
		}
		if order.Uint16(b[e:]) == tagOrientation {
			if v := int(order.Uint16(b[e+8:])); v >= 1 && v <= 8 {
				return v
			}
			return 1
		}
	}
	return 1
}

// upright turns an image of the given orientation the way it is meant to be
// seen.
func upright(img image.Image, orientation int) image.Image {
	if orientation <= 1 {
		return img
	}
	return turned{img, orientation}
}

// A turned is an image seen through an Exif orientation.
type turned struct {
	image.Image
	orientation int
}

// Bounds starts at the origin; from 5 on, the sides change places.
func (t turned) Bounds() image.Rectangle {
	size := t.Image.Bounds().Size()
	if t.orientation >= 5 {
		size.X, size.Y = size.Y, size.X
	}
	return image.Rectangle{Max: size}
}

// At returns the color at a point of the upright image.
func (t turned) At(x, y int) color.Color {
	b := t.Image.Bounds()
	w, h := b.Dx()-1, b.Dy()-1
	switch t.orientation {
	case 2:
		x = w - x
	case 3:
		x, y = w-x, h-y
	case 4:
		y = h - y
	case 5:
		x, y = y, x
	case 6:
		x, y = y, h-x
	case 7:
		x, y = w-y, h-x
	case 8:
		x, y = w-y, x
	}
	return t.Image.At(b.Min.X+x, b.Min.Y+y)
}
