#!/bin/sh
# The entrypoint of PostgreSQL's container. The server refuses a key that others may read, so it gets a copy of its own.
set -eu

umask 077
cp /run/certificates/key.pem /run/postgresql/server.key
exec docker-entrypoint.sh "$@" -c ssl=on -c ssl_cert_file=/run/certificates/cert.pem \
  -c ssl_key_file=/run/postgresql/server.key -c ssl_min_protocol_version=TLSv1.2 \
  -c hba_file=/etc/call-analysis/postgres-access.conf
