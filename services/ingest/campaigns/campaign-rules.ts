import type { CampaignStatus as Statuses } from '@call-analysis/api/campaigns';
import { Fault, invalidFields } from '@call-analysis/fault';
import type { z } from 'zod';

export type CampaignStatus = z.output<typeof Statuses>;
export type CampaignAction = 'start' | 'pause' | 'complete' | 'cancel';

/** docs/api.md, "Campaigns". */
const transitions: Readonly<
  Record<CampaignAction, { readonly from: readonly CampaignStatus[]; readonly to: CampaignStatus }>
> = {
  start: { from: ['draft', 'paused'], to: 'active' },
  pause: { from: ['active'], to: 'paused' },
  complete: { from: ['active', 'paused'], to: 'completed' },
  cancel: { from: ['draft', 'active', 'paused'], to: 'canceled' },
};

export const campaignActions = Object.keys(transitions) as readonly CampaignAction[];

/** The actions that are possible in a status; none once the campaign has finished. */
export function allowedActions(status: CampaignStatus): CampaignAction[] {
  return campaignActions.filter((action) => transitions[action].from.includes(status));
}

/** The status after an action. Fault INVALID_TRANSITION when the action is not possible in this status. */
export function statusAfter(status: CampaignStatus, action: CampaignAction): CampaignStatus {
  if (transitions[action].from.includes(status)) return transitions[action].to;
  throw invalidTransition(status, `This campaign is ${status}: ${action} is not possible now.`);
}

/** Only an active campaign accepts calls. Fault INVALID_TRANSITION in any other status. */
export function requireActive(status: CampaignStatus): void {
  if (status === 'active') return;
  throw invalidTransition(status, `This campaign is ${status}. It accepts calls only while it is active.`);
}

/** Fault INVALID_TRANSITION when the campaign is completed or canceled. */
export function requireUnfinished(status: CampaignStatus): void {
  if (allowedActions(status).length > 0) return;
  throw invalidTransition(status, `This campaign is ${status} and can no longer be changed.`);
}

/** The dates are informative: a campaign starts and ends only by an action. */
export function requireDateOrder({
  starts_at: from,
  ends_at: to,
}: Readonly<Record<'starts_at' | 'ends_at', Date | null>>): void {
  if (from === null || to === null || from < to) return;
  throw invalidFields([{ field: 'ends_at', code: 'INVALID', message: 'must be after starts_at' }]);
}

function invalidTransition(status: CampaignStatus, reason: string): Fault {
  const allowed = allowedActions(status);
  const hint = allowed.length === 0 ? 'Create a new campaign.' : `Possible actions: ${allowed.join(', ')}.`;
  return new Fault('conflict', 'INVALID_TRANSITION', `${reason} ${hint}`, { details: { allowed } });
}
