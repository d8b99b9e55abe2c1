import { Envelope, type Event } from '@call-analysis/events';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { Poison } from '../port.ts';
import { DATA_REF, fromMessage, headerOf, toMessage, withDataRef } from './message.ts';

// Half a surrogate pair has no UTF-8.
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const anyEvent: fc.Arbitrary<Event> = fc
  .record(
    {
      id: fc.uuid(),
      source: text,
      type: fc.stringMatching(/^[a-z][a-z0-9.-]{0,40}\.v\d$/),
      time: fc
        .date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31') })
        .map((date) => date.toISOString()),
      subject: text,
      firmuuid: fc.uuid(),
      priority: fc.nat(),
      traceparent: fc.constant('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'),
      requestid: fc.stringMatching(/^[A-Za-z0-9._-]{1,128}$/),
      data: fc.oneof(
        fc.constant(null),
        fc.constant({}),
        // -0 has no JSON.
        fc.jsonValue({ depthSize: 'small' }).map((value) => JSON.parse(JSON.stringify(value)) as unknown),
        fc.array(fc.string({ unit: 'binary' })).map((utterances) => ({ utterances })),
      ),
    },
    { requiredKeys: ['id', 'source', 'type', 'time', 'subject', 'firmuuid', 'priority', 'data'] },
  )
  .map((event) => ({ ...event }) as Event);

/** As it comes back: headers in bytes. */
function sent(event: Event) {
  const { value, headers } = toMessage(event);
  return {
    value,
    headers: Object.fromEntries(Object.entries(headers).map(([name, header]) => [name, Buffer.from(header)])),
  };
}

const event: Event = {
  id: '7d444840-9dc0-11d1-b245-5ffdce74fad2',
  source: 'ingest',
  type: 'transcript.ready.v1',
  time: '2026-03-01T10:00:00.000Z',
  subject: 'b1c6a3f0-0000-4000-8000-000000000001',
  firmuuid: 'c0ffee00-0000-4000-8000-000000000002',
  priority: 3,
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  requestid: 'r-1',
  data: { attempt: 1, note: 'добрый день' },
};

describe('a fact as a message', () => {
  it('comes back as it was, whatever it is about and whatever it says', () => {
    fc.assert(
      fc.property(anyEvent, fc.uuid(), (each, subject) => {
        expect(fromMessage(sent(each))).toStrictEqual(each);
        const ours = { ...each, subject };
        expect(Envelope.parse(fromMessage(sent(ours)))).toStrictEqual(ours);
      }),
    );
  });

  it('has the headers of CloudEvents 1.0 in binary mode, its subject as key and its body as JSON', () => {
    const { topic, key, value, headers } = toMessage(event);
    expect({ topic, key }).toEqual({ topic: event.type, key: event.subject });
    expect(headers).toEqual({
      ce_specversion: '1.0',
      ce_id: event.id,
      ce_source: 'ingest',
      ce_type: event.type,
      ce_time: event.time,
      ce_subject: event.subject,
      ce_firmuuid: event.firmuuid,
      ce_turn: '3',
      ce_traceparent: event.traceparent,
      ce_requestid: 'r-1',
      'content-type': 'application/json',
    });
    expect(JSON.parse(value!.toString())).toEqual(event.data);
  });

  it('carries every attribute that an envelope may have', () => {
    const all = Object.keys(Envelope.in.shape).filter((name) => name !== 'data');
    expect(Object.keys(toMessage(event).headers)).toEqual(expect.arrayContaining(all.map((name) => `ce_${name}`)));
  });

  it('can leave its body elsewhere and say where', () => {
    const message = withDataRef(toMessage(event), 'facts/a/b/c');
    expect(message.value).toBeNull();
    expect(headerOf(message, DATA_REF)).toBe('facts/a/b/c');
    expect(fromMessage(message, Buffer.from(JSON.stringify(event.data)))).toStrictEqual(event);
  });

  it('may come from others, who know nothing of turns and write times with an offset', () => {
    const { value, headers } = toMessage(event);
    const { ce_turn: _, ...others } = headers;
    const message = {
      value,
      headers: {
        ...others,
        ce_time: '2026-03-01T15:30:00.123456+05:30',
        'content-type': 'application/json; charset=utf-8',
        other: 'header',
      },
    };
    expect(Envelope.parse(fromMessage(message))).toStrictEqual({
      ...event,
      priority: 0,
      time: '2026-03-01T10:00:00.123Z',
    });
  });

  it.each([
    ['without headers', { value: Buffer.from('{}') }],
    ['of another version', { value: null, headers: { ...toMessage(event).headers, ce_specversion: '0.3' } }],
    ['whose body is no JSON', { value: Buffer.from('{"phone": +1 555'), headers: toMessage(event).headers }],
    [
      'whose body is of another type',
      { value: Buffer.from('{}'), headers: { ...toMessage(event).headers, 'content-type': 'text/plain' } },
    ],
  ])('is poison %s, in words that do not quote it', (_, message) => {
    const read = () => fromMessage(message);
    expect(read).toThrow(Poison);
    expect(read).not.toThrow(/555/);
  });

  it('is no event when an attribute does not fit', () => {
    const { value, headers } = toMessage(event);
    expect(Envelope.safeParse(fromMessage({ value, headers: { ...headers, ce_turn: 'soon' } })).success).toBe(false);
    expect(Envelope.safeParse(fromMessage({ value, headers: { ...headers, ce_id: undefined } })).success).toBe(false);
  });
});
