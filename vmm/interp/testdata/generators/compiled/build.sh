#!/bin/sh
# build.sh makes vmm/interp/testdata/compiled: the images of compiled.c and the
# results that this machine's processor gives. Run it in the module's root
# directory with gcc and binutils for x86-64.
set -e
src=vmm/interp/testdata/generators/compiled/compiled.c
out=vmm/interp/testdata/compiled
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p $out
: >"$tmp/expected"
build() {
	name=$1
	shift
	flags="-ffp-contract=off -fno-math-errno -fno-stack-protector -fno-pic -fno-asynchronous-unwind-tables -fno-tree-loop-distribute-patterns -w $*"
	gcc $flags -DNATIVE -no-pie -o "$tmp/native" $src
	gcc $flags -static -nostdlib -no-pie -Wl,--build-id=none,-T,$(dirname $src)/image.ld -o "$tmp/image.elf" $src -lgcc
	objcopy -O binary "$tmp/image.elf" "$tmp/image"
	gzip -9n <"$tmp/image" >"$out/$name.bin.gz"
	echo "$name $("$tmp/native")" >>"$tmp/expected"
}
build O0 -O0
build O1 -O1
build O2 -O2
build Os -Os
build O3-sse4 -O3 -msse4.2 -mpopcnt
build O3-x87 -O3 -mfpmath=387 -mno-sse3
build O3-movbe -O3 -mmovbe -mlzcnt
cp "$tmp/expected" $out/expected.txt
cat $out/expected.txt
ls -l $out
