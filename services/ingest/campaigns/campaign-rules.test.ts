import type { Fault } from '@call-analysis/fault';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  allowedActions,
  type CampaignAction,
  campaignActions,
  type CampaignStatus,
  requireActive,
  requireUnfinished,
  statusAfter,
} from './campaign-rules.ts';

/** docs/api.md, "Campaigns", in another form than in the code. */
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

describe('the states of a campaign', () => {
  it('change as documented, for all actions in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...campaignActions)), (actions) => {
        let status: CampaignStatus = 'draft';
        for (const action of actions) {
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

  it.each(statuses)('allow exactly the documented actions: %s', (status) => {
    expect(allowedActions(status)).toEqual(Object.keys(table[status]));
  });

  it('allow calls while active, and changes until the campaign has finished', () => {
    expect(statuses.filter((status) => faultOf(() => requireActive(status)) === null)).toEqual(['active']);
    expect(statuses.filter((status) => faultOf(() => requireUnfinished(status)) === null)).toEqual([
      'draft',
      'active',
      'paused',
    ]);
  });
});
