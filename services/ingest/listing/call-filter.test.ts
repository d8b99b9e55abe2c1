import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { anyFilter } from '../test/call-listing.ts';
import { type CallFilter, filterOf, filterToStore, NO_FILTER, storedFilter } from './call-filter.ts';
import { openCursor } from './cursor.ts';

const uuid = '019a4f3e-7c1a-7d20-9b1e-5f2a61c0d301';
const given: CallFilter = {
  ...NO_FILTER,
  status: ['failed', 'completed'],
  segment_type: ['sales'],
  started_from: '2026-10-01T00:00:00.000Z',
  score_min: 50,
  needs_review: true,
  lost_points: '019a4f3e-0000-7000-8000-000000000011',
  seen_operators: ['17'],
};
/** As the last release stored it. */
const stored = {
  status: ['failed', 'completed'],
  outcome: [],
  segmentType: ['sales'],
  direction: [],
  operatorName: null,
  startedFrom: '2026-10-01T00:00:00.000Z',
  startedTo: null,
  scoreMin: 50,
  needsReview: true,
  lostPoints: '019a4f3e-0000-7000-8000-000000000011',
  seenOperators: ['17'],
};

describe('a filter that is stored', () => {
  it('by the last release means the same', () => {
    expect(storedFilter(stored)).toEqual(given);
  });

  it('has the names that a process of the last release reads', () => {
    const known = Object.entries(stored).filter(([, value]) => value !== null && (value as unknown[]).length !== 0);
    expect(filterToStore(given)).toEqual(Object.fromEntries(known));
    expect(filterToStore(NO_FILTER)).toEqual({});
  });

  it('is read as it was, whatever it has', () => {
    fc.assert(
      fc.property(anyFilter, (filter) => {
        expect(storedFilter(JSON.parse(JSON.stringify(filterToStore(filter))) as object)).toEqual(filter);
      }),
    );
  });

  it('keeps that an operator without ids sees no call', () => {
    expect(storedFilter(filterToStore({ ...NO_FILTER, seen_operators: [] })).seen_operators).toEqual([]);
  });
});

it.each([
  ['without filters', NO_FILTER, 'AZpPPnwafSCbHl8qYcDTAUJ6D2sSaAAAA2uyre039qDGvFLfUW8LNmvq'],
  ['with filters', given, 'AZpPPnwafSCbHl8qYcDTAUJ6D2sSaAAAA2uw8C0ssq2pYPSddPLGv3bo'],
])('a cursor of the last release stays valid: %s', (_, filter, cursor) => {
  const scope = {
    firmUuid: '019a4f3e-0000-7000-8000-000000000001',
    filter,
    sort: { by: 'created_at', isDescending: true } as const,
  };
  expect(openCursor(Buffer.alloc(32, 7), scope, cursor)).toEqual({
    uuid,
    startTime: new Date('2026-10-01T09:00:00Z'),
    score: 875,
  });
});

it('a filter arrives as JSON, and from a gateway of the last release by its fields', () => {
  const { seen_operators: operator_ids, ...filter } = given;
  const caller = {
    firm_uuid: uuid,
    user_uuid: uuid,
    reads_json: true,
    sees_only: { operator_ids: [...operator_ids!] },
  };
  const others = { caller, page: 1, size: 10, sort: '' };
  const none = { status: [], outcome: [], segment_type: [], direction: [], review_status: [] };
  expect(filterOf({ ...others, ...none, filter_json: JSON.stringify(filter) })).toEqual(given);
  expect(filterOf({ ...others, ...filter } as Parameters<typeof filterOf>[0])).toEqual(given);
  const own = JSON.stringify({ ...filter, assigned_to: 'me' });
  expect(filterOf({ ...others, ...none, filter_json: own })).toEqual({ ...given, assigned_to: uuid });
});
