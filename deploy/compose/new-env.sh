#!/bin/sh
# Writes .env from .env.example, with a new random value for each secret that is empty there. Never overwrites.
set -eu
cd "$(dirname "$0")/../.."

if [ -e .env ]; then
  echo ".env is there already; its secrets are those that the data was made with. Edit it, or move it away." >&2
  exit 1
fi
# For nobody else to read.
umask 077
# Hexadecimal, since some stand in URLs.
while IFS= read -r line; do
  case "$line" in
    [A-Z]*_PASSWORD= | JWT_SECRET= | API_KEY_PEPPER= | S3_ACCESS_KEY= | S3_SECRET_KEY=) echo "$line$(openssl rand -hex 32)" ;;
    *) printf '%s\n' "$line" ;;
  esac
done <.env.example >.env.part
mv .env.part .env
echo "Wrote .env. Keep it with your backups: without API_KEY_PEPPER no API key is known any more." >&2
