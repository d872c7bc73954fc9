#!/bin/sh
# Builds the Bochs that has APICv: version 3.0 emulates posted interrupts, with
# two faults that KVM meets. It fetches Debian's source package (Debian, as
# root), repairs them, builds and puts the program into $TICKTRAP_BOCHS, or
# ticktrap/bochs in the user's cache directory. About a minute on two CPUs.
set -eu

version=3.0
package=bochs_$version+dfsg
sha256=78f6c73d4a6472d5130a87ab9dc306d02c7c71ed8e25b3a8ef642e2a7acd282b
suite=trixie

here=$(cd "$(dirname "$0")" && pwd)
dir="${TICKTRAP_BOCHS:-${XDG_CACHE_HOME:-$HOME/.cache}/ticktrap/bochs}"
# What is built depends on the source and on this script.
id="$version $(sha256sum <"$here/bochs.sh")"
if [ -x "$dir/bochs" ] && [ "$(cat "$dir/id" 2>/dev/null)" = "$id" ]; then
	exit 0
fi

skip() {
	echo "skipped: vmx-apicv: $1" >&2
	exit 1
}

missing=""
for p in g++ make xz-utils bochsbios vgabios; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
if [ -n "$missing" ]; then
	# shellcheck disable=SC2086 # a list of words
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing; } ||
		skip "cannot install$missing"
fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
find_mirror() { apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1; }
mirror=$(find_mirror)
[ -n "$mirror" ] || { apt-get update -q && mirror=$(find_mirror); } || true
[ -n "$mirror" ] || skip "apt knows no mirror of Debian"
mkdir -p lists/partial cache/archives/partial
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >sources.list
opts="-o Dir::Etc::sourcelist=$tmp/sources.list -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists=$tmp/lists"
opts="$opts -o Dir::Cache=$tmp/cache -o APT::Sandbox::User=root"
# shellcheck disable=SC2086 # a list of words
apt-get $opts update -q -q || skip "no list of $suite's sources"
# Only the original archive is needed: that the rest comes is not asked.
# shellcheck disable=SC2086 # a list of words
apt-get $opts source -q -q --download-only "bochs=$version+dfsg-1" || true
echo "$sha256  $package.orig.tar.xz" | sha256sum -c --status || skip "the source of Bochs $version cannot be fetched"
tar -xf "$package.orig.tar.xz"
cd "bochs-$version"

# The posted-interrupt descriptor is aligned to 64 bytes, not to a page (Intel
# SDM vol. 3C, "VM Entries", section "VM-Execution Control Fields").
sed -i 's/IsValidPageAlignedPhyAddr(vm->pid_addr)/IsValidPhyAddr(vm->pid_addr) || (vm->pid_addr \& 63)/' cpu/vmx.cc
grep -q 'vm->pid_addr & 63' cpu/vmx.cc || skip "the check of the posted-interrupt descriptor is not where it was"
# A VM-exit while a virtual interrupt is delivered reports its vector in the
# IDT-vectoring information (the same volume, "VM Exits", section "Information
# for VM Exits That Occur During Event Delivery").
sed -i '/^void BX_CPU_C::VMX_Deliver_Virtual_Interrupt/,/^}/s/^\( *\)interrupt(vector, BX_EXTERNAL_INTERRUPT, 0, 0);/\1vm->idt_vector_info = vector | (BX_EXTERNAL_INTERRUPT << 8);\n&/' cpu/vapic.cc
grep -q 'vm->idt_vector_info' cpu/vapic.cc || skip "the delivery of virtual interrupts is not where it was"

{
	CXXFLAGS="-O2 -w" CFLAGS="-O2 -w" ./configure --enable-cpu-level=6 --enable-x86-64 --enable-vmx=2 --enable-svm \
		--enable-smp --enable-pci --enable-avx --enable-evex --enable-fpu --enable-alignment-check --enable-3dnow=no \
		--with-nogui --disable-docbook --disable-debugger --enable-all-optimizations &&
		make -j "$(nproc)"
} >build.log 2>&1 || { tail -n 20 build.log >&2; skip "Bochs $version does not build"; }
mkdir -p "$dir"
cp bochs "$dir/bochs.new" && mv "$dir/bochs.new" "$dir/bochs"
echo "$id" >"$dir/id"
echo "Bochs $version with APICv: $dir/bochs"
