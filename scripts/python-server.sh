# Sourced by the scripts that install and start a server from PyPI for `*.real.test.ts`. They set `name`, and `directory`:
# a folder of their own, in which the server has a virtual environment, a log and the file with its pid.

. "$(dirname "${BASH_SOURCE[0]}")/debian-packages.sh"

pid_file="$directory/server.pid"

# The pid may belong to another process by now. The server has the directory in its arguments.
is_ours() { [ -r "/proc/$1/cmdline" ] && tr '\0' ' ' <"/proc/$1/cmdline" | grep -qF "$directory"; }

stop() {
  [ -f "$pid_file" ] || return 0
  local pid
  pid="$(cat "$pid_file")"
  if is_ours "$pid"; then
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 50); do
      is_ours "$pid" || break
      sleep 0.1
    done
    if is_ours "$pid"; then kill -KILL "$pid" 2>/dev/null || true; fi
  fi
  rm -f "$pid_file"
}

# Debian's python3 does not include venv.
missing_python() {
  command -v python3 >/dev/null || echo python3
  python3 -c 'import ensurepip' 2>/dev/null || echo python3-venv
}

# Runs pip of the virtual environment. Files are large, and pip gives up when a download is interrupted.
run_pip() {
  local tries
  for tries in 1 2 3; do
    "$directory/venv/bin/pip" "$1" -q --disable-pip-version-check "${@:2}" >"$directory/pip.log" 2>&1 && return 0
    [ "$tries" -lt 3 ] || fail "pip failed: $(tail -n 5 "$directory/pip.log")"
    sleep 10
  done
}

packages_of_venv() { "$directory/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])'; }

# Starts a command that takes `--port`, waits until the path of its server answers, and sets `url`.
start_on_free_port() {
  local path="$1" port pid
  shift
  port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
  url="http://127.0.0.1:$port"
  nohup "$@" --host 127.0.0.1 --port "$port" </dev/null >"$directory/server.log" 2>&1 &
  pid=$!
  echo "$pid" >"$pid_file"
  for _ in $(seq 300); do
    if "$directory/venv/bin/python" -c "import urllib.request; urllib.request.urlopen('$url$path', timeout=1)" 2>/dev/null; then
      return 0
    fi
    kill -0 "$pid" 2>/dev/null || fail "the server ended: $(tail -n 5 "$directory/server.log")"
    sleep 0.2
  done
  stop
  fail "the server is not ready after a minute: $(tail -n 5 "$directory/server.log")"
}
