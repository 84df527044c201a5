# Shared by the scripts in scripts/: the path of the repository, messages, and the packages that each task needs.
# shellcheck shell=bash
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export root

say() { printf '\033[1m==>\033[0m %s\n' "$*"; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

packages_build=(
  g++ cmake ninja-build ccache mold pkg-config git ca-certificates
  libboost1.81-dev libssl-dev libsqlite3-dev libyaml-cpp-dev libre2-dev libnghttp2-dev libzstd-dev libfmt-dev libspdlog-dev libcli11-dev libmimalloc-dev
  prometheus-cpp-dev libexpected-dev
)
packages_test=(libgtest-dev libgmock-dev librapidcheck-dev prometheus) # prometheus: promtool
packages_clang=(clang-19)
packages_bench=(libbenchmark-dev)
packages_budgets=(valgrind)
packages_sanitizers=(clang-19 libclang-rt-19-dev)
packages_lint=(clang-tidy-19 clang-format-19 shellcheck)
packages_coverage=(gcovr)
packages_render=(golang-go golang-github-masterminds-sprig-dev golang-gopkg-yaml.v3-dev)
packages_console=(chromium fonts-noto-cjk) # for the tests of the page
export packages_console packages_build packages_clang packages_test packages_bench packages_budgets packages_sanitizers packages_lint packages_coverage packages_render

# install_missing PACKAGE...: installs the missing packages and lists them. Prints nothing if none is missing.
install_missing() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  command -v apt-get >/dev/null || die "these Debian packages are needed: ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "run as root, or install sudo, or install these packages: ${missing[*]}"
    as_root=(sudo)
  fi
  say "Installing Debian packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# The end-to-end tests and users need kubectl; any version works.
install_kubectl() {
  command -v kubectl >/dev/null || install_missing kubernetes-client
}

# The console's page needs Node and npm. A Node that is installed otherwise than by Debian is used as it is.
install_node() {
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then install_missing nodejs npm; fi
}

# build_with_console PRESET [TARGET...]: as build(), with the console's page in the program.
build_with_console() {
  local cmake_flags=-DBERTH_CONSOLE=ON
  build "$@"
}

# build_with_benchmarks PRESET [TARGET...]: as build(), with the benchmarks among the targets.
build_with_benchmarks() {
  local cmake_flags=-DBERTH_BENCH=ON
  build "$@"
}

# configure PRESET LOG FLAG...: runs cmake. When a folder was configured with another compiler, cmake starts afresh and
# forgets the flags; then they are given again.
configure() {
  local preset=$1 log=$2
  shift 2
  (cd "$root" && cmake --preset "$preset" -Wno-dev "$@") >"$log" 2>&1 || return
  if grep -q 'require your cache to be deleted' "$log"; then configure "$preset" "$log" "$@"; fi
}

# build PRESET [TARGET...]: configures the preset and builds the targets (default: all).
build() {
  local preset=$1
  shift
  case "$preset" in
    dev | demo) install_missing "${packages_clang[@]}" ;;
    asan | tsan) install_missing "${packages_sanitizers[@]}" ;;
  esac
  say "Building preset $preset${cmake_flags:+ with $cmake_flags}"
  configure "$preset" "/tmp/berth-cmake-$preset-$UID.log" ${cmake_flags:+"$cmake_flags"} ||
    { cat "/tmp/berth-cmake-$preset-$UID.log" >&2; die "cmake could not configure the preset '$preset'"; }
  cmake --build "$root/build/$preset" ${1:+--target "$@"}
}
