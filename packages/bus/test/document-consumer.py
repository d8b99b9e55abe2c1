"""Consumes the public events that an AsyncAPI document describes, knowing nothing else of them.

    document-consumer.py CONFIGURATION SUBJECT TYPES

Reads the document from standard input. CONFIGURATION is that of librdkafka, as JSON. Compares every message of the topics with
the document, and prints the events about SUBJECT, one JSON object a line, until there is one of each of the TYPES.
"""

import json
import sys
import time

from confluent_kafka import Consumer
from jsonschema import Draft7Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

TIMEOUT_SECONDS = 120
DOCUMENT = "urn:document"

document = json.load(sys.stdin)
configuration, subject, missing = json.loads(sys.argv[1]), sys.argv[2], set(sys.argv[3].split(","))
registry = Registry().with_resource(DOCUMENT, Resource.from_contents(document, default_specification=DRAFT7))


def follow(node):
    """What a reference leads to, and its path."""
    path = node["$ref"].removeprefix("#/")
    found = document
    for name in path.split("/"):
        found = found[name]
    return follow(found) if "$ref" in found else (found, path)


def validator(path):
    return Draft7Validator({"$ref": f"{DOCUMENT}#/{path}"}, registry=registry, format_checker=Draft7Validator.FORMAT_CHECKER)


class Topic:
    def __init__(self, channel):
        ((_, reference),) = channel["messages"].items()
        message, path = follow(reference)
        self.type = message["name"]
        self.headers = validator(f"{path}/headers")
        self.payload = validator(f"{path}/payload")
        self.key = validator(f"{path}/bindings/kafka/key")
        self.content_type = message["contentType"]

    def read(self, received):
        headers = {name: value.decode() for name, value in received.headers()}
        key, body = received.key().decode(), json.loads(received.value())
        self.headers.validate(headers)
        self.key.validate(key)
        self.payload.validate(body)
        assert headers["content-type"] == self.content_type
        assert key == headers["ce_subject"]
        return {"type": self.type, "key": key, "headers": headers, "body": body}


def is_public(channel):
    return any(tag["name"] == "public" for tag in channel["tags"])


topics = {channel["address"]: Topic(channel) for channel in document["channels"].values() if is_public(channel)}
consumer = Consumer({"auto.offset.reset": "earliest", "enable.auto.commit": False, **configuration})
consumer.subscribe(list(topics))
give_up_at = time.monotonic() + TIMEOUT_SECONDS
while missing:
    if time.monotonic() > give_up_at:
        sys.exit(f"There is no {', '.join(sorted(missing))} about {subject}.")
    received = consumer.poll(1)
    if received is None:
        continue
    if received.error() is not None:
        print(received.error(), file=sys.stderr)
        continue
    event = topics[received.topic()].read(received)
    if event["key"] == subject:
        print(json.dumps(event))
        missing.discard(event["type"])
consumer.close()
