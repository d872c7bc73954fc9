package trace

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// blockKind says what a block of a recording holds.
type blockKind byte

const (
	blockHeader   blockKind = 'H'
	blockEvents   blockKind = 'E'
	blockSnapshot blockKind = 'S'
	blockAction   blockKind = 'C'
	blockIndex    blockKind = 'X'
)

const (
	blockHeadLen = 16
	placementLen = 40
	// maxBody bounds what a block may expand to: a snapshot of 255 vCPUs with
	// wide histograms takes some 20 MiB.
	maxBody = 64 << 20

	flagZstd = 1
)

// placement is where a block belongs in the run.
type placement struct {
	first    Seq
	count    uint32
	min, max clock.TSC
	layout   uint64
}

func (p *placement) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(p.first))
	b = binary.LittleEndian.AppendUint32(b, p.count)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(p.min))
	b = binary.LittleEndian.AppendUint64(b, uint64(p.max))
	return binary.LittleEndian.AppendUint64(b, p.layout)
}

func readPlacement(b []byte) placement {
	return placement{first: Seq(binary.LittleEndian.Uint64(b)), count: binary.LittleEndian.Uint32(b[8:]),
		min: clock.TSC(binary.LittleEndian.Uint64(b[16:])), max: clock.TSC(binary.LittleEndian.Uint64(b[24:])),
		layout: binary.LittleEndian.Uint64(b[32:])}
}

func (k blockKind) placed() bool { return k == blockEvents || k == blockSnapshot || k == blockAction }

func (k blockKind) known() bool { return k.placed() || k == blockHeader || k == blockIndex }

// block is a block of a recording as the file holds it.
type block struct {
	kind    blockKind
	flags   byte
	offset  int64
	length  uint32 // of the payload
	rawLen  uint32 // of the body before compression
	sum     uint32
	place   placement
	bodyOff int // of the body in the payload
}

func (b *block) end() int64 { return b.offset + blockHeadLen + int64(b.length) }

// appendBlock appends a whole block. body is compressed if enc is not nil.
func appendBlock(dst []byte, k blockKind, p *placement, body []byte, enc *zstd.Encoder) []byte {
	start := len(dst)
	dst = append(dst, byte(k), 0, 0, 0)
	dst = append(dst, make([]byte, blockHeadLen-4)...)
	if k.placed() {
		dst = p.append(dst)
	}
	if enc != nil {
		dst[start+1] = flagZstd
		dst = enc.EncodeAll(body, dst)
	} else {
		dst = append(dst, body...)
	}
	head := dst[start : start+blockHeadLen]
	binary.LittleEndian.PutUint32(head[4:], uint32(len(dst)-start-blockHeadLen))
	binary.LittleEndian.PutUint32(head[8:], uint32(len(body)))
	binary.LittleEndian.PutUint32(head[12:], checksum(head[:12], dst[start+blockHeadLen:]))
	return dst
}

// readBlockHead reads the head of the block at offset. limit is the end of the
// file.
func readBlockHead(p []byte, offset, limit int64) (b block, err error) {
	if len(p) < blockHeadLen {
		return b, io.ErrUnexpectedEOF
	}
	b = block{kind: blockKind(p[0]), flags: p[1], offset: offset, length: binary.LittleEndian.Uint32(p[4:]),
		rawLen: binary.LittleEndian.Uint32(p[8:]), sum: binary.LittleEndian.Uint32(p[12:])}
	switch {
	case !b.kind.known():
		return b, fmt.Errorf("unknown kind %#02x", p[0])
	case b.flags&^flagZstd != 0 || p[2] != 0 || p[3] != 0:
		return b, fmt.Errorf("unknown flags")
	case b.rawLen > maxBody || b.length > maxBody:
		return b, fmt.Errorf("%d bytes are too long", max(b.rawLen, b.length))
	case b.end() > limit:
		return b, io.ErrUnexpectedEOF
	}
	return b, nil
}

// check verifies the checksum over head and payload and reads the placement.
func (b *block) check(head, payload []byte) error {
	if checksum(head[:12], payload) != b.sum {
		return fmt.Errorf("wrong checksum")
	}
	if !b.kind.placed() {
		return nil
	}
	if len(payload) < placementLen {
		return fmt.Errorf("no placement")
	}
	b.place, b.bodyOff = readPlacement(payload), placementLen
	return nil
}

// body decompresses the body of a block into dst.
func (b *block) body(payload, dst []byte, dec *zstd.Decoder) ([]byte, error) {
	body := payload[b.bodyOff:]
	if b.flags&flagZstd == 0 {
		dst = append(dst[:0], body...)
	} else {
		var err error
		if dst, err = dec.DecodeAll(body, dst[:0]); err != nil {
			return dst, fmt.Errorf("decompressing: %w", err)
		}
	}
	if len(dst) != int(b.rawLen) {
		return dst, fmt.Errorf("%d bytes, expected %d", len(dst), b.rawLen)
	}
	return dst, nil
}

func newEncoder() *zstd.Encoder {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return enc
}

func newDecoder() *zstd.Decoder {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBody))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return dec
}
