package interp

// rowsALU are the eight operations that fill the first quarter of the map.
func rowsALU() []row {
	ops := []struct {
		name, flags string
		a           alu
	}{
		{"add", "OSZAPC", aluADD}, {"or", "OSZaPC", aluOR}, {"adc", "OSZAPC", aluADC}, {"sbb", "OSZAPC", aluSBB},
		{"and", "OSZaPC", aluAND}, {"sub", "OSZAPC", aluSUB}, {"xor", "OSZaPC", aluXOR}, {"cmp", "OSZAPC", aluCMP},
	}
	var rows []row
	for i, o := range ops {
		hex := func(b int) string { return string("0123456789ABCDEF"[b>>4]) + string("0123456789ABCDEF"[b&15]) }
		lock := lockable
		if o.name == "cmp" {
			lock = 0
		}
		e, g := family{o.a.r, o.a.m}, family{o.a.r, o.a.l}
		digit := " /" + string(rune('0'+i))
		rows = append(rows,
			row{hex(8 * i), o.name, "Eb,Gb", o.flags, 0, lock, e},
			row{hex(8*i + 1), o.name, "Ev,Gv", o.flags, 0, lock, e},
			row{hex(8*i + 2), o.name, "Gb,Eb", o.flags, 0, 0, g},
			row{hex(8*i + 3), o.name, "Gv,Ev", o.flags, 0, 0, g},
			row{hex(8*i + 4), o.name, "Ab,Ib", o.flags, 0, 0, e},
			row{hex(8*i + 5), o.name, "Av,Iz", o.flags, 0, 0, e},
			row{"80" + digit, o.name, "Eb,Ib", o.flags, 0, lock, e},
			row{"81" + digit, o.name, "Ev,Iz", o.flags, 0, lock, e},
			row{"82" + digit, o.name, "Eb,Ib", o.flags, 0, lock | no64, e},
			row{"83" + digit, o.name, "Ev,Ib", o.flags, 0, lock, e},
		)
	}
	return rows
}

// rowsExtra are the rows of the shifts, generated from their groups.
func rowsExtra() []row {
	groups := []struct {
		name, flags string
		f           family
	}{
		{"rol", "OC", famROL}, {"ror", "OC", famROR}, {"rcl", "OC", famRCL}, {"rcr", "OC", famRCR},
		{"shl", "OSZaPC", famSHL}, {"shr", "OSZaPC", famSHR}, {"shl", "OSZaPC", famSHL}, {"sar", "OSZaPC", famSAR},
	}
	var rows []row
	for i, g := range groups {
		digit := " /" + string(rune('0'+i))
		for _, e := range []struct{ op, args string }{
			{"C0", "Eb,Ib"}, {"C1", "Ev,Ib"}, {"D0", "Eb"}, {"D1", "Ev"}, {"D2", "Eb"}, {"D3", "Ev"},
		} {
			rows = append(rows, row{e.op + digit, g.name, e.args, g.flags, 0, 0, g.f})
		}
	}
	return rows
}
