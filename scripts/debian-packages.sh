# Sourced by scripts that install what they need from Debian. They set `name`, which their messages begin with, and `directory`,
# a folder for the log of apt.

say() { echo "$name: $*" >&2; }

fail() {
  say "$*"
  exit 1
}

# Installs Debian's packages of these names.
install_packages() {
  [ $# -gt 0 ] || return 0
  command -v apt-get >/dev/null || fail "these programs are missing, and there is no apt-get to install them: $*"
  [ "$(id -u)" = 0 ] || fail "these packages are missing; install them as root: apt-get install $*"
  say "installing $*"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -q && apt-get install -q -y --no-install-recommends "$@"; } >"$directory/apt.log" 2>&1 ||
    fail "apt-get failed: $(tail -n 5 "$directory/apt.log")"
}
