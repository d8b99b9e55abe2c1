#!/bin/sh
# The entrypoint of the store's container. Writes the accounts of the services, named after them, to a folder in memory.
set -eu

umask 077
account() {
  printf '"%s":{"access":"%s","secret":"%s","role":"user","userID":0,"groupID":0,"projectID":0}' "$1" "$1" "$2"
}
{
  printf '{"accessAccounts":{'
  account ingest "${INGEST_S3_SECRET_KEY:?}" && printf ','
  account audio "${AUDIO_S3_SECRET_KEY:?}" && printf ','
  account transcription "${TRANSCRIPTION_S3_SECRET_KEY:?}" && printf ','
  account analysis "${ANALYSIS_S3_SECRET_KEY:?}"
  printf '}}'
} >/run/accounts/users.json
exec versitygw "$@"
