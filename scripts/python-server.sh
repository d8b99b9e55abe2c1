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

# A free port below those of outgoing connections.
free_port() {
  python3 -c '
import random, socket
while True:
    port = random.randrange(27000, 30000)
    try:
        with socket.socket() as s: s.bind(("127.0.0.1", port))
        print(port)
        break
    except OSError: pass'
}

# Whether this process, and no other program, listens on the port.
listens() {
  python3 -c '
import glob, os, sys
pid, port = sys.argv[1], "%04X" % int(sys.argv[2])
rows = [line.split() for line in open("/proc/net/tcp").readlines()[1:]]
inodes = {"socket:[%s]" % row[9] for row in rows if row[1].endswith(":" + port) and row[3] == "0A"}
sys.exit(0 if any(os.path.lexists(fd) and os.readlink(fd) in inodes for fd in glob.glob("/proc/%s/fd/*" % pid)) else 1)
' "$1" "$2" 2>/dev/null
}

# Starts a command that takes `--port`, waits until the path of its server answers, and sets `url`. When another program takes
# the port first, starts it on another one.
start_on_free_port() {
  local tries
  for tries in 1 2 3 4 5; do
    start_on "$(free_port)" "$@" && return 0
  done
  fail "the server got no port: $(tail -n 5 "$directory/server.log")"
}

# Fails when the port is in use.
start_on() {
  local port="$1" path="$2" pid
  shift 2
  url="http://127.0.0.1:$port"
  nohup "$@" --host 127.0.0.1 --port "$port" </dev/null >"$directory/server.log" 2>&1 &
  pid=$!
  echo "$pid" >"$pid_file"
  for _ in $(seq 300); do
    if ! kill -0 "$pid" 2>/dev/null; then
      grep -qi 'address already in use' "$directory/server.log" && return 1
      fail "the server ended: $(tail -n 5 "$directory/server.log")"
    fi
    if listens "$pid" "$port" &&
      "$directory/venv/bin/python" -c "import urllib.request; urllib.request.urlopen('$url$path', timeout=1)" 2>/dev/null; then
      return 0
    fi
    sleep 0.2
  done
  stop
  fail "the server is not ready after a minute: $(tail -n 5 "$directory/server.log")"
}
