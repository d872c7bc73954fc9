package main

import "fmt"

// chainRows are short programs: what one instruction leaves in the flags, the
// next ones use. All undefined flags but AF, which the processor clears, are
// avoided; programs differ in length and operand sizes.
func chainRows() []row {
	return []row{
		{name: "CHAIN", n: 1500, build: func(i *inst) { i.chain(4 + i.r.N(12)) }},
		{name: "CHAIN32", n: 300, mode: 32, build: func(i *inst) { i.chain(4 + i.r.N(12)) }},
	}
}

// link is an instruction of a chain, on registers.
type link struct {
	enc   string
	sizes string
	undef uint64
}

var links = func() []link {
	var l []link
	for k := range 8 {
		undef := uint64(0)
		if k == 1 || k == 4 || k == 6 {
			undef = af
		}
		weight := 1
		if k == 2 || k == 3 {
			weight = 3
		}
		for range weight {
			l = append(l, link{fmt.Sprintf("%02x /r:r", 8*k), "b", undef}, link{fmt.Sprintf("%02x /r:r", 8*k+1), "wdq", undef},
				link{fmt.Sprintf("80 /%d:r ib", k), "b", undef}, link{fmt.Sprintf("83 /%d:r ib", k), "wdq", undef},
				link{fmt.Sprintf("81 /%d:r iz", k), "wdq", undef})
		}
	}
	for k := range 8 {
		undef := uint64(0)
		if k >= 4 {
			undef = af
		}
		l = append(l, link{fmt.Sprintf("d0 /%d:r", k), "b", undef}, link{fmt.Sprintf("d1 /%d:r", k), "wdq", undef})
	}
	for c := range 16 {
		l = append(l, link{fmt.Sprintf("0f%02x /0:r", 0x90+c), "b", 0}, link{fmt.Sprintf("0f%02x /r:r", 0x40+c), "wdq", 0})
	}
	for range 2 {
		l = append(l, link{"fe /0:r", "b", 0}, link{"fe /1:r", "b", 0}, link{"ff /0:r", "wdq", 0}, link{"ff /1:r", "wdq", 0},
			link{"f6 /3:r", "b", 0}, link{"f7 /3:r", "wdq", 0}, link{"84 /r:r", "b", af}, link{"85 /r:r", "wdq", af},
			link{"9f", "d", 0}, link{"9e", "d", 0}, link{"f5", "d", 0}, link{"f8", "d", 0}, link{"f9", "d", 0})
	}
	return append(l, link{"0fc1 /r:r", "wdq", 0}, link{"0fc0 /r:r", "b", 0}, link{"0fb1 /r:r", "wdq", 0}, link{"0fb0 /r:r", "b", 0},
		link{"f7 /2:r", "wdq", 0}, link{"89 /r:r", "wdq", 0}, link{"8a /r:r", "b", 0}, link{"87 /r:r", "wdq", 0},
		link{"0fb6 /r:r", "wdq", 0}, link{"0fbe /r:r", "wdq", 0}, link{"98", "wdq", 0}, link{"99", "wdq", 0},
		link{"0fc8 +r", "dq", 0}, link{"9c", "ws", 0})
}()

// chain writes a program of n instructions; some are jumped over.
func (i *inst) chain(n int) {
	var program []byte
	var undef uint64
	whole := i.w
	for range n {
		l := links[i.r.N(len(links))]
		if l.enc == "9c" && i.r.Chance(50) {
			continue
		}
		sizes := l.sizes
		if i.Mode != 64 && sizes == "wdq" {
			sizes = "wd"
		}
		if i.Mode != 64 && sizes == "dq" {
			sizes = "d"
		}
		sz := sizes[i.r.N(len(sizes))]
		if sz == 's' {
			sz = sizes[0]
		}
		i.size = map[byte]int{'b': 1, 'w': 2, 'd': 4, 'q': 8}[sz]
		i.w = &row{enc: l.enc, sizes: l.sizes}
		i.reserved, i.isMem, i.addr32 = 1<<4, false, false
		i.encode()
		undef |= l.undef
		if i.r.Chance(20) {
			program = append(program, 0x70|byte(i.r.N(16)), byte(len(i.Code)))
		}
		program = append(program, i.Code...)
	}
	i.w, i.Code, i.Undef = whole, program, undef
}
