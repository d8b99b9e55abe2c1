#!/bin/sh
# Writes .env from .env.example, with a random value for each empty secret, and certificates/. Never overwrites .env.
set -eu
cd "$(dirname "$0")/../.."

if [ -e .env ]; then
  echo ".env exists already, and the stored data depends on its secrets. Edit it, or move it away." >&2
  exit 1
fi
# Only the owner may read the file.
umask 077
# Hexadecimal, because some are used in URLs.
while IFS= read -r line; do
  case "$line" in
    [A-Z]*_PASSWORD= | JWT_SECRET= | API_KEY_PEPPER= | S3_ACCESS_KEY= | S3_SECRET_KEY=) echo "$line$(openssl rand -hex 32)" ;;
    *) printf '%s\n' "$line" ;;
  esac
done <.env.example >.env.part
sh deploy/compose/new-certificates.sh
mv .env.part .env
echo "Wrote .env. Keep it with your backups: without API_KEY_PEPPER every API key becomes invalid." >&2
