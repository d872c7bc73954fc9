#!/bin/sh
# Installs the emulators and unpacks the kernels that the tests on real KVM
# need (Debian 12, as root). Nothing of the kernels is installed: they go to
# $TICKTRAP_KERNELS, or ticktrap/kernels in the user's cache directory.
#
#   prepare.sh          QEMU and both kernels
#   prepare.sh bochs    Bochs and what it boots from as well
set -eu

packages="qemu-system-x86"
if [ "${1:-}" = bochs ]; then
	packages="$packages bochs bochs-term bochsbios vgabios grub-common grub-pc-bin xorriso mtools"
fi
missing=""
for p in $packages; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
if [ -n "$missing" ]; then
	apt-get update -q
	# shellcheck disable=SC2086 # a list of words
	DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
fi

dir="${TICKTRAP_KERNELS:-${XDG_CACHE_HOME:-$HOME/.cache}/ticktrap/kernels}"
mkdir -p "$dir"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
# The newest signed cloud kernel of each series is what its meta-package
# depends on.
for meta in linux-image-cloud-amd64 linux-image-6.12-cloud-amd64; do
	series=6.1
	[ "$meta" = linux-image-cloud-amd64 ] || series=6.12
	ls "$dir"/boot/vmlinuz-"$series".* >/dev/null 2>&1 && continue
	[ -n "$(apt-cache depends "$meta" 2>/dev/null)" ] || apt-get update -q
	kernel=$(apt-cache depends "$meta" | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p' | head -n 1)
	[ -n "$kernel" ] || { echo "prepare.sh: $meta depends on no kernel" >&2; exit 1; }
	(cd "$tmp" && apt-get download -q "$kernel" && dpkg -x "$kernel"_*.deb "$dir")
done
echo "kernels in $dir:"
ls "$dir"/boot/vmlinuz-*
