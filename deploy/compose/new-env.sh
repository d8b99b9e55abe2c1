#!/bin/sh
# Writes .env from .env.example, with a random value for each empty secret, and certificates/. Never overwrites a value.
#
#   sh deploy/compose/new-env.sh          # refuses when .env exists
#   sh deploy/compose/new-env.sh --add    # adds what a newer version needs to an .env that exists
set -eu
cd "$(dirname "$0")/../.."

if [ -e .env ] && [ "${1-}" != --add ]; then
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
sh deploy/compose/new-certificates.sh
mv .env.part .env
echo "Wrote .env. Keep it with your backups: without API_KEY_PEPPER every API key becomes invalid." >&2
