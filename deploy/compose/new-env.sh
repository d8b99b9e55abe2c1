#!/bin/sh
# Writes .env from .env.example, with a random value for each empty secret, and certificates/. Never overwrites a value.
#
#   sh deploy/compose/new-env.sh          # refuses when .env exists
#   sh deploy/compose/new-env.sh --add    # adds what a newer version needs to an .env that exists
#   sh deploy/compose/new-env.sh --models # as --add, and sets the empty variables of the profile "models"
set -eu
cd "$(dirname "$0")/../.."

if [ -e .env ] && [ "${1-}" != --add ] && [ "${1-}" != --models ]; then
  echo ".env exists already, and the stored data depends on its secrets. Edit it, move it away, or run this with --add." >&2
  exit 1
fi
# Only the owner may read the file.
umask 077
: >.env.part
[ ! -e .env ] || cat .env >.env.part
# Hexadecimal, because some are used in URLs.
while IFS= read -r line; do
  name="${line%%=*}"
  case "$line" in
    [A-Z]*=*) if [ -e .env ] && grep -q "^$name=" .env; then continue; fi ;;
    *) if [ -e .env ]; then continue; fi ;;
  esac
  case "$line" in
    [A-Z]*_PASSWORD= | *S3_SECRET_KEY= | JWT_SECRET= | API_KEY_PEPPER= | S3_ACCESS_KEY=) echo "$line$(openssl rand -hex 32)" ;;
    *) printf '%s\n' "$line" ;;
  esac
done <.env.example >>.env.part
# Changes lines of .env.part. `sed -i` is not the same everywhere.
change() {
  sed "$1" .env.part >.env.changed
  mv .env.changed .env.part
}
if [ "${1-}" = --models ]; then
  # A server and its model go together.
  if grep -q '^LLM_URL=$' .env.part; then
    change 's|^LLM_URL=$|LLM_URL=http://ollama:11434/v1|; s|^LLM_MODEL=$|LLM_MODEL=qwen3:4b-instruct|'
    change 's|^LLM_CONTEXT_TOKENS=$|LLM_CONTEXT_TOKENS=16384|; s|^LLM_CONCURRENCY=$|LLM_CONCURRENCY=1|'
  fi
  if grep -q '^SPEECH_URL=$' .env.part; then
    change 's|^SPEECH_URL=$|SPEECH_URL=http://speech:8000/v1|; s|^SPEECH_CONCURRENCY=$|SPEECH_CONCURRENCY=1|'
    change 's|^SPEECH_MODEL=$|SPEECH_MODEL=deepdml/faster-whisper-large-v3-turbo-ct2|'
  fi
fi
sh deploy/compose/new-certificates.sh
mv .env.part .env
echo "Wrote .env. Keep it with your backups: without API_KEY_PEPPER every API key becomes invalid." >&2
