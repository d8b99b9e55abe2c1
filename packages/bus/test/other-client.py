"""Reads and writes CloudEvents on Kafka with independent libraries.

    other-client.py read BROKERS TOPIC COUNT    prints the first COUNT events, one JSON object a line
    other-client.py write BROKERS TOPIC         sends events from standard input, in the same form
"""

import json
import sys
import time

from cloudevents.core.bindings.kafka import KafkaMessage, from_binary, to_binary
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent
from confluent_kafka import Consumer, Producer
from dateutil.parser import isoparse

TIMEOUT_SECONDS = 60


def read(brokers, topic, count):
    consumer = Consumer(
        {
            "bootstrap.servers": brokers,
            "group.id": f"{topic}.other-client",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    give_up_at = time.monotonic() + TIMEOUT_SECONDS
    while count > 0:
        if time.monotonic() > give_up_at:
            sys.exit(f"{count} events are missing.")
        message = consumer.poll(1)
        if message is None:
            continue
        if message.error() is not None:
            print(message.error(), file=sys.stderr)
            continue
        # Raises when an attribute is missing or invalid.
        event = from_binary(
            KafkaMessage(dict(message.headers() or []), message.key(), message.value()), JSONFormat(), CloudEvent
        )
        print(json.dumps({"attributes": event.get_attributes(), "data": event.get_data()}, default=lambda at: at.isoformat()))
        count -= 1
    consumer.close()


def write(brokers, topic):
    producer = Producer({"bootstrap.servers": brokers, "acks": "all"})
    for line in sys.stdin:
        given = json.loads(line)
        attributes = given["attributes"]
        if "time" in attributes:
            attributes["time"] = isoparse(attributes["time"])
        event = CloudEvent(attributes, given["data"])
        message = to_binary(event, JSONFormat(), key_mapper=lambda each: each.get_subject())
        producer.produce(topic, key=message.key, value=message.value, headers=list(message.headers.items()))
    if producer.flush(TIMEOUT_SECONDS) > 0:
        sys.exit("Not every event could be sent.")


if sys.argv[1] == "read":
    read(sys.argv[2], sys.argv[3], int(sys.argv[4]))
else:
    write(sys.argv[2], sys.argv[3])
