# The health check of a container: succeeds when /readyz answers 200. Bash opens the connection itself, so the check starts no
# program and takes milliseconds.
exec 3<>"/dev/tcp/127.0.0.1/${HEALTH_PORT:-9090}" || exit 1
printf 'GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
read -r -t 15 _ status _ <&3 && [ "$status" = 200 ]
