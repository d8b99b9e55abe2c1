#!/bin/sh
# Writes certificates/: an authority (once), and for each service, the admin command, Kafka and PostgreSQL a new key with a
# certificate of a year. Run it again to renew them, then restart the services: docs/operations.md, "Certificates".
set -eu
cd "$(dirname "$0")/../.."

umask 077
mkdir -p certificates
# A container's user must read its files, so they are open; nobody on this host gets past the folder.
chmod 700 certificates
cd certificates

new_key() {
  openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null ||
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"
}

if [ ! -e authority.key ]; then
  new_key authority.key.new
  openssl req -x509 -new -key authority.key.new -days 3650 -sha256 -subj '/CN=Call Analysis services' \
    -addext 'keyUsage=critical,keyCertSign,cRLSign' -out authority.pem
  mv authority.key.new authority.key
fi

for name in gateway key-management ingest audio analysis webhooks admin kafka postgres; do
  mkdir -p "$name"
  new_key "$name/key.pem.new"
  printf '%s\n' "subjectAltName=DNS:$name" 'basicConstraints=critical,CA:FALSE' 'keyUsage=critical,digitalSignature' \
    'extendedKeyUsage=serverAuth,clientAuth' >"$name/extensions"
  openssl req -new -key "$name/key.pem.new" -subj "/CN=$name" -out "$name/request"
  openssl x509 -req -in "$name/request" -CA authority.pem -CAkey authority.key -set_serial "0x$(openssl rand -hex 16)" \
    -days 366 -sha256 -extfile "$name/extensions" -out "$name/cert.pem.new" 2>/dev/null
  rm "$name/request" "$name/extensions"
  cp authority.pem "$name/ca.pem.new"
  # Kafka reads the key and the certificate from one file.
  [ "$name" != kafka ] || cat "$name/key.pem.new" "$name/cert.pem.new" >"$name/keystore.pem.new"
  chmod 755 "$name"
  chmod 644 "$name"/*.new
  for file in "$name"/*.new; do mv "$file" "${file%.new}"; done
done
# The containers read it. Nobody else gets past the folder.
chmod 644 authority.pem
echo "Wrote certificates/. Whoever has authority.key can act as any service: keep it as .env." >&2
