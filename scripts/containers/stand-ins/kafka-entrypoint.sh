#!/bin/sh
# As in the image `apache/kafka`: Kafka's own wrapper turns the variables KAFKA_… into server.properties and formats the storage.
# At a later start it fails because the storage is formatted already, after it has written server.properties.
set -eu

said="$(java -cp '/opt/kafka/libs/*' kafka.docker.KafkaDockerWrapper setup --default-configs-dir /etc/kafka/docker \
  --mounted-configs-dir /mnt/shared/config --final-configs-dir /opt/kafka/config 2>&1)" || case "$said" in
  *'already formatted'*) ;;
  *)
    echo "$said"
    exit 1
    ;;
esac
# The options are split on purpose.
# shellcheck disable=SC2086
exec java ${KAFKA_HEAP_OPTS:-} -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp '/opt/kafka/libs/*' kafka.Kafka /opt/kafka/config/server.properties
