import { Envelope, type Event, toWire } from '@call-analysis/events';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { Poison } from '../port.ts';
import { DATA_REF, fromMessage, headerOf, toMessage, withDataRef } from './message.ts';

// Half a surrogate pair cannot be encoded in UTF-8.
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
        // JSON has no -0.
        fc.jsonValue({ depthSize: 'small' }).map((value) => JSON.parse(JSON.stringify(value)) as unknown),
        fc.array(fc.string({ unit: 'binary' })).map((utterances) => ({ utterances })),
      ),
    },
    { requiredKeys: ['id', 'source', 'type', 'time', 'subject', 'firmuuid', 'priority', 'data'] },
  )
  .map((event) => ({ ...event }) as Event);

/** The message as it is read: headers are bytes. */
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

describe('an event as a message', () => {
  it('is read as it was sent, whatever its attributes and body', () => {
    fc.assert(
      fc.property(anyEvent, fc.uuid(), (each, subject) => {
        expect(fromMessage(sent(each))).toStrictEqual(toWire(each));
        const valid = { ...each, subject };
        expect(Envelope.parse(fromMessage(sent(valid)))).toStrictEqual(valid);
      }),
    );
  });

  it('has the headers of CloudEvents 1.0 in binary mode, the subject as its key and the body as JSON', () => {
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

  it('can refer to a body in the object store', () => {
    const message = withDataRef(toMessage(event), 'facts/a/b/c');
    expect(message.value).toBeNull();
    expect(headerOf(message, DATA_REF)).toBe('facts/a/b/c');
    expect(Envelope.parse(fromMessage(message, Buffer.from(JSON.stringify(event.data))))).toStrictEqual(event);
  });

  it('is read when the previous release sent it', () => {
    const message = {
      value: Buffer.from('{"attempt":1,"note":"добрый день"}'),
      headers: {
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
      },
    };
    expect(Envelope.parse(fromMessage(message))).toStrictEqual(event);
  });

  it('of another producer may have no priority, and a time with an offset', () => {
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
    ['with a body that is not JSON', { value: Buffer.from('{"phone": +1 555'), headers: toMessage(event).headers }],
    [
      'with a body of another type',
      { value: Buffer.from('{}'), headers: { ...toMessage(event).headers, 'content-type': 'text/plain' } },
    ],
  ])('is poison %s, and the message of the error does not quote it', (_, message) => {
    const read = () => fromMessage(message);
    expect(read).toThrow(Poison);
    expect(read).not.toThrow(/555/);
  });

  it('is no event when an attribute is invalid', () => {
    const { value, headers } = toMessage(event);
    expect(Envelope.safeParse(fromMessage({ value, headers: { ...headers, ce_turn: 'soon' } })).success).toBe(false);
    expect(Envelope.safeParse(fromMessage({ value, headers: { ...headers, ce_id: undefined } })).success).toBe(false);
  });
});
