import type { Fault } from '@call-analysis/fault';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  allowedActions,
  type CampaignStatus,
  type CampaignAction,
  campaignActions,
  requireActive,
  requireUnfinished,
  statusAfter,
} from './campaign-rules.ts';

/** api.md, section 7, written down once more and differently. */
const table: Record<CampaignStatus, Partial<Record<CampaignAction, CampaignStatus>>> = {
  draft: { start: 'active', cancel: 'canceled' },
  active: { pause: 'paused', complete: 'completed', cancel: 'canceled' },
  paused: { start: 'active', complete: 'completed', cancel: 'canceled' },
  completed: {},
  canceled: {},
};
const statuses = Object.keys(table) as CampaignStatus[];

function faultOf(work: () => unknown): Fault | null {
  try {
    work();
    return null;
  } catch (error) {
    return error as Fault;
  }
}

describe('the life of a campaign', () => {
  it('is what the interface says, whatever campaignActions come in whatever order', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...campaignActions)), (lived) => {
        let status: CampaignStatus = 'draft';
        for (const action of lived) {
          const next: CampaignStatus | undefined = table[status][action];
          const before: CampaignStatus = status;
          if (next === undefined) {
            const fault = faultOf(() => statusAfter(before, action));
            expect(fault).toMatchObject({ kind: 'conflict', code: 'INVALID_TRANSITION' });
            expect(fault?.details).toEqual({ allowed: Object.keys(table[before]) });
          } else {
            expect(statusAfter(before, action)).toBe(next);
            status = next;
          }
        }
      }),
    );
  });

  it.each(statuses)('says of a campaign that is %s what is possible, and nothing else is', (status) => {
    expect(allowedActions(status)).toEqual(Object.keys(table[status]));
  });

  it('takes calls while it is active, and changes until it has finished', () => {
    expect(statuses.filter((status) => faultOf(() => requireActive(status)) === null)).toEqual(['active']);
    expect(statuses.filter((status) => faultOf(() => requireUnfinished(status)) === null)).toEqual([
      'draft',
      'active',
      'paused',
    ]);
  });
});
