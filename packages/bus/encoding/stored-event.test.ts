import { deflateRawSync } from 'node:zlib';
import { Envelope, type Event, toWire } from '@call-analysis/events';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { jsonOf, pack, packBatch, unpack, unpackBatch, unpackList } from './stored-event.ts';

const event = (data: unknown): Event => ({
  id: '0199d3a0-0000-7000-8000-000000000001',
  source: 'test',
  type: 'thing.happened.v1',
  time: '2026-10-01T00:00:00.000Z',
  subject: 'thing',
  firmuuid: '0199d3a0-0000-4000-8000-000000000002',
  priority: 0,
  data,
});

describe('a stored event', () => {
  it('of the previous release is read: plain, deflated, in a short batch and in a deflated one', () => {
    const stored = {
      id: '0199d3a0-0000-7000-8000-000000000001',
      source: 'test',
      type: 'thing.happened.v1',
      time: '2026-10-01T00:00:00.000Z',
      subject: '0199d3a0-0000-4000-8000-000000000003',
      firmuuid: '0199d3a0-0000-4000-8000-000000000002',
      turn: 7,
      data: { n: 1 },
    };
    const { data: _, ...attributes } = stored;
    const read = { ...event({ n: 1 }), subject: stored.subject, priority: 7 };
    expect(Envelope.parse(unpack(stored))).toEqual(read);
    expect(Envelope.parse(unpack({ ...attributes, deflated: 'q1bKU7IyrAUA' }))).toEqual(read);
    const batch = [stored, { ...stored, turn: 8 }];
    const deflated = deflateRawSync(JSON.stringify(batch)).toString('base64');
    for (const each of [
      { parcel: batch, subjects: ['x'] },
      { parcel: deflated, subjects: ['x'] },
    ]) {
      expect((unpackBatch(each) as unknown[]).map((one) => Envelope.parse(one).priority)).toEqual([7, 8]);
    }
    expect(unpackList(JSON.stringify(batch))).toEqual([read, { ...read, priority: 8 }]);
    expect(unpackList(deflated)).toEqual([read, { ...read, priority: 8 }]);
  });

  it('is restored unchanged, short or long', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(3_000), (value, padding) => {
        const sent = event({ value, padding: 'ж'.repeat(padding) });
        const kept = JSON.parse(JSON.stringify(pack(sent).stored)) as unknown;
        expect(unpack(kept)).toEqual(JSON.parse(JSON.stringify(toWire(sent))));
      }),
    );
  });

  it('is compressed when it is long', () => {
    const sent = event({ text: 'the same words again and again '.repeat(500) });
    expect(JSON.stringify(pack(sent).stored).length).toBeLessThan(2_000);
  });

  it('in an unknown form is returned unchanged', () => {
    for (const stored of [null, 1, 'text', [], {}, { deflated: 1 }, { deflated: 'x' }])
      expect(unpack(stored)).toBe(stored);
  });

  it('is restored from a batch, short or long', () => {
    for (const count of [2, 25]) {
      const sent = Array.from({ length: count }, (_, n) => event({ n }));
      const kept = JSON.parse(JSON.stringify(packBatch(sent, `[${sent.map(jsonOf).join()}]`).stored)) as unknown;
      expect(unpackBatch(kept)).toEqual(sent.map(toWire));
    }
    for (const stored of [null, 1, [], {}, { parcel: 'x' }, event(1)]) expect(unpackBatch(stored)).toBeUndefined();
  });
});
