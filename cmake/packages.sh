# The packages that the scripts install, and how. Sourced by quickstart and runtests.

BUILD_PACKAGES="g++ cmake ninja-build pkg-config libboost-filesystem-dev libboost-dev nlohmann-json3-dev libcli11-dev libfmt-dev
libmount-dev libblkid-dev"
FILESYSTEM_PACKAGES="e2fsprogs xfsprogs btrfs-progs reiserfsprogs jfsutils f2fs-tools nilfs-tools user-mode-linux"
TEST_PACKAGES="libgtest-dev libfuse3-dev util-linux bsdutils procps locales"

# install_packages NAME...: installs those that are missing. Without root it says what to type and fails.
install_packages() {
  missing=""
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    echo "$(basename "$0"): these packages are missing. As root, type: apt-get install$missing" >&2
    return 1
  fi
  echo "$(basename "$0"): installing$missing"
  # shellcheck disable=SC2086 # one word a package
  if ! DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1; then
    apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
  fi
}
