#!/bin/sh
# Runs once, when PostgreSQL creates its data directory. Creates a database for each service that has one, owned by the
# service's role, which cannot connect to the other databases. Passwords come from NAME_DATABASE_PASSWORD.
set -eu

for service in key_management ingest audio transcription analysis webhooks; do
  name="$(echo "$service" | tr '[:lower:]' '[:upper:]')_DATABASE_PASSWORD"
  eval "password=\${$name:?}"
  # psql reads the password from a variable and quotes it, so it never appears in the arguments of a process.
  PASSWORD="$password" psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --set=service="$service" \
    --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
\getenv password PASSWORD
CREATE ROLE :"service" LOGIN PASSWORD :'password';
CREATE DATABASE :"service" OWNER :"service";
REVOKE ALL ON DATABASE :"service" FROM PUBLIC;
SQL
done

# Only the superuser may connect to the database `postgres`.
psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=postgres \
  --command='REVOKE ALL ON DATABASE postgres FROM PUBLIC'
