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
	flags="-ffp-contract=off -fno-math-errno -fno-stack-protector -fno-pic -fno-pie -fno-asynchronous-unwind-tables -fno-tree-loop-distribute-patterns -w $*"
	case "$*" in
	*-m32*) libs= native=-nostdlib ;;
	*) libs=-lgcc native= ;;
	esac
	gcc $flags -DNATIVE -static $native -o "$tmp/native" $src
	gcc $flags -static -nostdlib -no-pie -Wl,--no-warn-rwx-segments,--build-id=none,-T,$(dirname $src)/image.ld -o "$tmp/image.elf" $src $libs
	objcopy -O binary "$tmp/image.elf" "$tmp/image"
	gzip -9n <"$tmp/image" >"$out/$name.bin.gz"
	echo "$name $("$tmp/native" | od -An -v -t x8 -w104 | tr -s ' ')" >>"$tmp/expected"
}
build O0 -O0
build O1 -O1
build O2 -O2
build Os -Os
build O3-sse4 -O3 -msse4.2 -mpopcnt
build O3-x87 -O3 -mfpmath=387 -mno-sse3
build O3-movbe -O3 -mmovbe -mlzcnt
build 32-O2-sse -m32 -ffreestanding -O2 -msse2 -mfpmath=sse -mstackrealign
build 32-O1-i686 -m32 -ffreestanding -O1 -march=i686
build 32-Os-x87 -m32 -ffreestanding -Os -march=i586
cp "$tmp/expected" $out/expected.txt
cat $out/expected.txt
ls -l $out
