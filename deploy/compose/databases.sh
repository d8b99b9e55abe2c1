#!/bin/sh
# Runs once, when PostgreSQL makes its data directory: a database for each service that has one, owned by a role of its
# own that may not enter the others'. A password is taken from NAME_DATABASE_PASSWORD.
set -eu

for service in key_management ingest audio transcription analysis; do
  name="$(echo "$service" | tr '[:lower:]' '[:upper:]')_DATABASE_PASSWORD"
  eval "password=\${$name:?}"
  # The password comes in by a variable of psql, which quotes it, and never stands among a process's arguments.
  PASSWORD="$password" psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --set=service="$service" \
    --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
\getenv password PASSWORD
CREATE ROLE :"service" LOGIN PASSWORD :'password';
CREATE DATABASE :"service" OWNER :"service";
REVOKE ALL ON DATABASE :"service" FROM PUBLIC;
SQL
done

# Nobody but the superuser has business in the database that everything starts from.
psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=postgres \
  --command='REVOKE ALL ON DATABASE postgres FROM PUBLIC'
