#!/bin/sh
# Makes the samples of texts.json, Opus: flite speaks English, espeak-ng the others. Needs ffmpeg too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for language in en ru uz ky es; do
  node -p "require('$here/texts.json').$language" >"$work/text"
  if [ "$language" = en ]; then
    flite -voice slt -f "$work/text" -o "$work/spoken.wav"
  else
    espeak-ng -v "$language" -s 150 -f "$work/text" -w "$work/spoken.wav"
  fi
  ffmpeg -loglevel error -y -i "$work/spoken.wav" -ar 16000 -ac 1 -c:a libopus -b:a 24k "$here/$language.ogg"
done
