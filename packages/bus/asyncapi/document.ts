import { type DeclaredEventType, declaredEvents, Envelope } from '@call-analysis/events';
import { z } from 'zod';
import type { Kafka } from '../config.ts';
import { LARGE_BODY_BYTES } from '../kafka/large-bodies.ts';
import {
  ATTRIBUTE_PREFIX,
  CONTENT_TYPE,
  DATA_REF,
  deadLetterTopic,
  REPLAY_TO,
  SPEC_VERSION,
} from '../kafka/message.ts';
import { COMPRESSION, settingsOf, topicOf } from '../kafka/topics/topic.ts';

export type AsyncApi = Readonly<Record<string, unknown>>;
/** How an installation names and makes its topics. */
type Topics = Pick<Kafka, 'prefix' | 'topics'>;
type JsonSchema = Readonly<Record<string, unknown>>;

const DESCRIPTION = `The events that the services of the Call Analysis Service publish to Kafka. An installation without Kafka (\`npm start\` by itself) keeps them in its database, where nobody else can read them.

An event is a CloudEvent 1.0 in the binary mode of the Kafka protocol binding: attributes are headers, the value is the body. Its topic is the name of the event with its version. Its key is the subject, so the events about one subject are in one partition.

Events arrive **at least once, in any order**: keep the \`${ATTRIBUTE_PREFIX}id\` of what you have handled. Skip messages with the header \`${REPLAY_TO}\`: they repeat an event for one consumer of this system. Topics hold the events of all firms.

The events with the tag \`public\` are a promise to other systems. Within a version their bodies get new optional fields and nothing else: ignore fields that you do not know. Any other change is a new version, which is published beside the old one for at least one release. The events with the tag \`internal\` belong to the services and may be replaced with any release; their dead letters, in topics that end in \`${deadLetterTopic('')}\`, likewise.

Topics are compressed by ${COMPRESSION}. A body over ${LARGE_BODY_BYTES} bytes is not in the message: its value is null, and \`${DATA_REF}\` has the key of its object in the object store. No public event has such a body.`;

const AUDIENCES = {
  public: 'A promise to other systems.',
  internal: 'Of the services themselves; may be replaced with any release.',
};

/** The AsyncAPI 3 document of the events. With `kafka`, topics have the names and the retention of this installation. */
export function asyncApiDocument(kafka?: Topics): AsyncApi {
  const byType = (value: (event: DeclaredEventType) => unknown) =>
    Object.fromEntries(declaredEvents.map((event) => [event.type, value(event)]));
  return {
    asyncapi: '3.0.0',
    id: 'urn:call-analysis:events',
    info: {
      title: 'Call Analysis Service: events',
      version: '1',
      description: DESCRIPTION,
      tags: tagsOf('public', 'internal'),
    },
    defaultContentType: CONTENT_TYPE,
    servers: {
      kafka: {
        host: '{brokers}',
        protocol: 'kafka',
        description: 'Ask the operator for the brokers, a user, and the prefix of its consumer groups.',
        variables: { brokers: { description: '`host:port` of one or more brokers, separated by commas.' } },
      },
    },
    channels: byType((event) => channel(event, kafka)),
    operations: byType(operation),
    components: { messages: byType(message), schemas: { Headers: headers() } },
  };
}

function channel(
  { type, description, subject, publishers, audience }: DeclaredEventType,
  kafka: Topics | undefined,
): object {
  const topic = topicOf(kafka ?? { prefix: '' }, type);
  return {
    address: topic,
    description,
    messages: { event: { $ref: `#/components/messages/${type}` } },
    tags: tagsOf(audience),
    bindings: {
      kafka: { topic, ...(kafka && { topicConfiguration: configurationOf(kafka) }), bindingVersion: '0.5.0' },
    },
    'x-audience': audience,
    'x-publishers': publishers,
    'x-subject': subject,
  };
}

/** The document has numbers where Kafka has text. */
function configurationOf({ topics }: Topics): object {
  const settings = Object.entries(settingsOf(topics));
  return Object.fromEntries(settings.map(([name, value]) => [name, /^\d+$/.test(value) ? Number(value) : value]));
}

function operation({ type, publishers }: DeclaredEventType): object {
  const channelRef = `#/channels/${type}`;
  return {
    action: 'send',
    channel: { $ref: channelRef },
    messages: [{ $ref: `${channelRef}/messages/event` }],
    summary: `Published by ${publishers.join(', ')}.`,
  };
}

function message({ type, body, description, subject, publishers, audience }: DeclaredEventType): object {
  return {
    name: type,
    title: type,
    summary: description,
    contentType: CONTENT_TYPE,
    tags: tagsOf(audience),
    headers: {
      type: 'object',
      allOf: [{ $ref: '#/components/schemas/Headers' }],
      properties: {
        [`${ATTRIBUTE_PREFIX}type`]: { const: type },
        [`${ATTRIBUTE_PREFIX}source`]: { enum: publishers },
      },
    },
    payload: jsonSchema(body),
    bindings: {
      kafka: {
        key: {
          type: 'string',
          format: 'uuid',
          description: `The uuid of the ${subject}, as in ${ATTRIBUTE_PREFIX}subject.`,
        },
        bindingVersion: '0.5.0',
      },
    },
  };
}

/** The headers of every event. */
function headers(): JsonSchema {
  const { properties, required } = jsonSchema(Envelope.in) as {
    properties: Record<string, JsonSchema>;
    required: readonly string[];
  };
  const isAttribute = (name: string) => name !== 'data';
  const attributes = Object.entries(properties).filter(([name]) => isAttribute(name));
  return {
    type: 'object',
    description: 'Every value is text in UTF-8.',
    properties: {
      [`${ATTRIBUTE_PREFIX}specversion`]: { const: SPEC_VERSION },
      ...Object.fromEntries(attributes.map(([name, schema]) => [`${ATTRIBUTE_PREFIX}${name}`, asText(schema)])),
      'content-type': { const: CONTENT_TYPE },
      [DATA_REF]: {
        type: 'string',
        description:
          'The key of the object with the body, where that is too large for a message. The value is null then.',
      },
      [REPLAY_TO]: {
        type: 'string',
        description: 'The event is repeated for the consumer of this name alone. Other consumers skip it.',
      },
    },
    required: ['specversion', ...required.filter(isAttribute)].map((name) => `${ATTRIBUTE_PREFIX}${name}`),
  };
}

/** A header is text, also where the attribute is a number. */
function asText({ description, ...schema }: JsonSchema): JsonSchema {
  return { ...(schema['type'] === 'integer' ? { type: 'string', pattern: String.raw`^\d+$` } : schema), description };
}

/** As a reader gets it: what has a default may be absent, because an older process may have published it. */
function jsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...own } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema: each }) => simplify(each),
  });
  return own;
}

/** Removes what says nothing to a reader: bounds of safe integers, and patterns that repeat the format. */
function simplify(schema: Record<string, unknown>): void {
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  if (schema['format'] === 'uuid' || schema['format'] === 'date-time') delete schema['pattern'];
  // A name is always text.
  delete schema['propertyNames'];
}

function tagsOf(...audiences: readonly (keyof typeof AUDIENCES)[]): object[] {
  return audiences.map((name) => ({ name, description: AUDIENCES[name] }));
}
