# The packages that the scripts install, and how. Sourced by quickstart and runtests.

BUILD_PACKAGES="g++ cmake ninja-build pkg-config libboost-filesystem-dev libboost-dev nlohmann-json3-dev libcli11-dev libfmt-dev
libmount-dev libblkid-dev libyaml-cpp-dev"
FILESYSTEM_PACKAGES="e2fsprogs xfsprogs btrfs-progs"
# Not every distribution has them: what is missing is said, and the file systems that need it are not available.
MORE_FILESYSTEM_PACKAGES="reiserfsprogs jfsutils f2fs-tools nilfs-tools user-mode-linux zfs-fuse"
TEST_PACKAGES="libgtest-dev libfuse3-dev util-linux bsdutils procps locales"

# zfs-fuse comes with a service that is started when it is installed, and would import pools. A run starts one of its own.
keep_services_down() {
  [ "$(id -u)" -eq 0 ] || return 0
  [ -e /usr/sbin/policy-rc.d ] || {
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d
    policy_made=yes
  }
}
let_services_be() {
  [ -z "${policy_made:-}" ] || rm -f /usr/sbin/policy-rc.d
}

is_installed() {
  dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q '^install ok installed'
}

# install_packages NAME...: installs those that are missing. Without root it says what to type and fails.
install_packages() {
  missing=""
  for package in "$@"; do
    is_installed "$package" || missing="$missing $package"
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

# install_where_there NAME...: the same, one by one; what cannot be installed is said and left out.
install_where_there() {
  keep_services_down
  for package in "$@"; do
    # It would put OpenZFS off the machine.
    if [ "$package" = zfs-fuse ] && is_installed zfsutils-linux; then continue; fi
    ( install_packages "$package" ) || echo "$(basename "$0"): going on without $package" >&2
  done
  let_services_be
}
