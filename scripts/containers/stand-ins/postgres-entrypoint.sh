#!/bin/sh
# As in the image `postgres`: the first start creates the data directory and runs what is in /docker-entrypoint-initdb.d on a
# server that listens only on its socket.
set -eu

mkdir -p "$PGDATA"
chmod 700 "$PGDATA"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  echo "${POSTGRES_PASSWORD:?}" >/tmp/password
  # The arguments are split on purpose.
  # shellcheck disable=SC2086
  initdb -D "$PGDATA" --username=postgres --pwfile=/tmp/password --auth-host=scram-sha-256 --auth-local=trust ${POSTGRES_INITDB_ARGS:-}
  rm /tmp/password
  shift
  pg_ctl -D "$PGDATA" -w -o "$* -c listen_addresses= -c unix_socket_directories=/run/postgresql" start
  export PGHOST=/run/postgresql
  for file in /docker-entrypoint-initdb.d/*.sh; do sh "$file"; done
  unset PGHOST
  pg_ctl -D "$PGDATA" -w -m fast stop
  set -- postgres "$@"
fi
exec "$@" -c listen_addresses='*' -c unix_socket_directories=/run/postgresql
