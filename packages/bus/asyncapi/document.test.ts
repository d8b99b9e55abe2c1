import { Parser } from '@asyncapi/parser';
import { type DeclaredEventType, declaredEvents, Envelope } from '@call-analysis/events';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { toMessage } from '../kafka/message.ts';
import { asyncApiDocument } from './document.ts';

const kafka = { prefix: 'calls.', topics: { create: true, partitions: 12, replication: 3, retentionMs: 86_400_000 } };

interface Channel {
  readonly address: string;
  readonly 'x-publishers': readonly string[];
  readonly bindings: { readonly kafka: { readonly topic: string; readonly topicConfiguration?: unknown } };
}

function channelsOf(document: ReturnType<typeof asyncApiDocument>): Record<string, Channel> {
  return document['channels'] as Record<string, Channel>;
}

describe('the AsyncAPI document', () => {
  it('is valid by the official parser, which reads every event from it', async () => {
    const { document, diagnostics } = await new Parser().parse(JSON.stringify(asyncApiDocument(kafka)));
    const faults = diagnostics.filter(({ code }) => code !== 'asyncapi-latest-version');
    expect(faults.map(({ code, message, path }) => `${path.join('/')}: ${code}: ${message}`)).toEqual([]);
    const read = document!.channels().all();
    expect(read.map((channel) => channel.address()).toSorted()).toEqual(
      declaredEvents.map(({ type }) => `calls.${type}`),
    );
    for (const channel of read) {
      const [message] = channel.messages().all();
      expect(message!.payload()?.json()).toBeDefined();
      expect(message!.headers()?.json()).toBeDefined();
      expect(channel.operations().all()).toHaveLength(1);
    }
  });

  it('names the topics and their settings as the installation has them', () => {
    const ended = channelsOf(asyncApiDocument(kafka))['call.ended.v1']!;
    expect(ended.address).toBe('calls.call.ended.v1');
    expect(ended.bindings.kafka).toMatchObject({
      topic: 'calls.call.ended.v1',
      topicConfiguration: { 'retention.ms': 86_400_000, 'compression.type': 'zstd' },
    });
    const elsewhere = channelsOf(asyncApiDocument())['call.ended.v1']!;
    expect([elsewhere.address, elsewhere.bindings.kafka.topicConfiguration]).toEqual(['call.ended.v1', undefined]);
  });

  it('describes every header that a message has', () => {
    const event = Envelope.parse({
      id: crypto.randomUUID(),
      source: 'ingest',
      type: 'call.ended.v1',
      time: new Date().toISOString(),
      subject: crypto.randomUUID(),
      firmuuid: crypto.randomUUID(),
      turn: 3,
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      requestid: 'r-1',
      data: {},
    });
    const { components } = asyncApiDocument() as {
      components: { schemas: { Headers: { properties: Record<string, unknown> } } };
    };
    expect(Object.keys(components.schemas.Headers.properties)).toEqual(
      expect.arrayContaining(Object.keys(toMessage(event).headers)),
    );
  });

  it('refers to nothing outside itself', () => {
    const document = asyncApiDocument();
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, path]) => path!);
    expect(references.length).toBeGreaterThan(declaredEvents.length);
    for (const path of new Set(references)) {
      const found = path
        .split('/')
        .slice(1)
        .reduce<unknown>((each, name) => (each as Record<string, unknown>)[name], document);
      expect([path, typeof found]).toEqual([path, 'object']);
    }
  });
});

describe.each(declaredEvents.map((event) => [event.type, event] as const))('%s', (type, event) => {
  it('has a name with a version, a description, a subject and publishers', () => {
    expect(type).toMatch(/^[a-z]+(?:[.-][a-z]+)*\.v\d+$/);
    expect(event.description).toMatch(/^[A-Z].*\.$/);
    expect(event.subject).not.toBe('');
    expect(event.publishers.length).toBeGreaterThan(0);
  });

  it('says what each field means, if others may rely on it', () => {
    if (event.audience === 'public') expect(undescribedFields(event)).toEqual([]);
  });
});

/** The paths of the fields without a description whose name and values do not speak for themselves. */
function undescribedFields({ body }: DeclaredEventType): string[] {
  const found: string[] = [];
  const visit = (schema: z.core.JSONSchema.JSONSchema, path: string) => {
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      const each = field as z.core.JSONSchema.JSONSchema;
      if (each.description === undefined && each.enum === undefined) found.push(`${path}${name}`);
      visit(each, `${path}${name}.`);
    }
    for (const each of [...(schema.anyOf ?? []), ...(schema.allOf ?? [])])
      visit(each as z.core.JSONSchema.JSONSchema, path);
    if (typeof schema.items === 'object') visit(schema.items as z.core.JSONSchema.JSONSchema, `${path}[].`);
  };
  visit(z.toJSONSchema(body, { io: 'input' }) as z.core.JSONSchema.JSONSchema, '');
  return found;
}
