import type { Event } from '@call-analysis/events';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { pack, packParcel, unpack, unpackParcel } from './stored-event.ts';

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

describe('an event in a queue', () => {
  it('comes back as it was, short or long', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(3_000), (value, padding) => {
        const sent = event({ value, padding: 'ж'.repeat(padding) });
        const kept = JSON.parse(JSON.stringify(pack(sent).stored)) as unknown;
        expect(unpack(kept)).toEqual(JSON.parse(JSON.stringify(sent)));
      }),
    );
  });

  it('takes less room when it is long', () => {
    const sent = event({ text: 'the same words again and again '.repeat(500) });
    expect(JSON.stringify(pack(sent).stored).length).toBeLessThan(2_000);
  });

  it('is left as it is when it is not ours', () => {
    for (const stored of [null, 1, 'text', [], {}, { deflated: 1 }, { deflated: 'x' }])
      expect(unpack(stored)).toBe(stored);
  });

  it('comes back from among others, few or many', () => {
    for (const count of [2, 25]) {
      const sent = Array.from({ length: count }, (_, n) => event({ n }));
      const kept = JSON.parse(JSON.stringify(packParcel(sent, JSON.stringify(sent)).stored)) as unknown;
      expect(unpackParcel(kept)).toEqual(sent);
    }
    for (const stored of [null, 1, [], {}, { parcel: 'x' }, event(1)]) expect(unpackParcel(stored)).toBeUndefined();
  });
});
