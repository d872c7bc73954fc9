#!/bin/sh
# Installs the emulators and unpacks the kernels that the tests on real KVM
# need (Debian, as root). Nothing of the kernels is installed: they go to
# $TICKTRAP_KERNELS, or ticktrap/kernels in the user's cache directory.
#
#   prepare.sh                     QEMU, and the kernels 6.1 and 6.12
#   prepare.sh [bochs] SERIES...   QEMU and the kernels of these series, or "all";
#                                  bochs: Bochs and what it boots from as well
#
# A kernel that cannot be had is named in a line "skipped: SERIES: why", and is
# no failure: the tests that need it say so too.
set -eu

packages="qemu-system-x86"
if [ "${1:-}" = bochs ]; then
	shift
	packages="$packages bochs bochs-term bochsbios vgabios grub-common grub-pc-bin xorriso mtools"
fi
series="${*:-6.1 6.12}"
[ "$series" != all ] || series="5.10 6.1 6.12 6.16 6.17 6.18 6.19 7.2 7.3"

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

# suite names the release of Debian that has a series.
suite() {
	case "$1" in
	5.10) echo bullseye ;;
	6.1) echo bookworm ;;
	6.12) echo trixie ;;
	*) echo trixie-backports ;;
	esac
}

find_mirror() { apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1; }

# suite_state prepares apt for one suite, with state of its own: the machine's
# list of sources stays as it is. It sets $opts.
suite_state() {
	state="${XDG_CACHE_HOME:-$HOME/.cache}/ticktrap/apt/$1"
	opts="-o Dir::Etc::sourcelist=$state/sources.list -o Dir::Etc::sourceparts=/dev/null"
	opts="$opts -o Dir::State::lists=$state/lists -o Dir::Cache=$state/cache -o APT::Sandbox::User=root"
	[ ! -e "$state/ready" ] || return 0
	mirror=$(find_mirror)
	[ -n "$mirror" ] || { apt-get update -q >&2 && mirror=$(find_mirror); }
	[ -n "$mirror" ] || return 1
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $1 main" >"$state/sources.list"
	# shellcheck disable=SC2086 # a list of words
	apt-get $opts update -q -q --error-on=any >&2 && touch "$state/ready"
}

# fetch downloads packages and unpacks them.
fetch() (
	cd "$tmp"
	rm -f ./*.deb
	# shellcheck disable=SC2086 # a list of words
	apt-get $opts download -q -q "$@" >&2 || exit 1
	for deb in ./*.deb; do dpkg -x "$deb" unpacked || exit 1; done
)

# kernel puts the newest cloud kernel of a series into $dir, or says why not.
kernel() {
	suite_state "$(suite "$1")" || { echo "no package list of $(suite "$1")"; return 1; }
	# shellcheck disable=SC2086 # a list of words
	names=$(apt-cache $opts pkgnames linux-image-"$1". | grep -- '-cloud-amd64$' | sort -rV)
	[ -n "$names" ] || { echo "$(suite "$1") has no package of it"; return 1; }
	for name in $names; do
		release=${name#linux-image-}
		rm -rf "$tmp/unpacked"
		mkdir "$tmp/unpacked"
		# Later kernels come in parts: the image depends on them.
		# shellcheck disable=SC2086 # a list of words
		parts=$(apt-cache $opts depends "$name" | sed -n "s/^ *Depends: \(linux-[a-z]*-$release\)\$/\1/p")
		# shellcheck disable=SC2086 # a list of words
		fetch "$name" $parts || continue
		image=$(find "$tmp/unpacked" -name vmlinuz -o -name "vmlinuz-$release" | head -n 1)
		modules=$(find "$tmp/unpacked" -path "*/lib/modules/$release/kernel" | head -n 1)
		if [ -n "$image" ] && [ -n "$modules" ]; then
			mkdir -p "$dir/boot" "$dir/lib/modules/$release"
			mv "$modules" "$dir/lib/modules/$release/kernel"
			mv "$image" "$dir/boot/vmlinuz-$release"
			return 0
		fi
	done
	echo "$(suite "$1") has only parts of it"
	return 1
}

for s in $series; do
	ls "$dir"/boot/vmlinuz-"$s".* >/dev/null 2>&1 && continue
	why=$(kernel "$s") || echo "skipped: $s: ${why:-it cannot be fetched}"
done
echo "kernels in $dir:"
ls "$dir"/boot/vmlinuz-*
