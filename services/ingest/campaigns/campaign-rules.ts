import { Fault } from '@call-analysis/fault';

export type CampaignStatus = 'draft' | 'active' | 'paused' | 'completed' | 'canceled';
export type CampaignAction = 'start' | 'pause' | 'complete' | 'cancel';

/** api.md, section 7. */
const moves: Readonly<
  Record<CampaignAction, { readonly from: readonly CampaignStatus[]; readonly to: CampaignStatus }>
> = {
  start: { from: ['draft', 'paused'], to: 'active' },
  pause: { from: ['active'], to: 'paused' },
  complete: { from: ['active', 'paused'], to: 'completed' },
  cancel: { from: ['draft', 'active', 'paused'], to: 'canceled' },
};

export const campaignActions = Object.keys(moves) as readonly CampaignAction[];

/** What can be done to a campaign of this status; nothing once it has finished. */
export function allowedDeeds(status: CampaignStatus): CampaignAction[] {
  return campaignActions.filter((action) => moves[action].from.includes(status));
}

/** The status after a deed. Fault INVALID_TRANSITION when the deed is not possible now. */
export function statusAfter(status: CampaignStatus, action: CampaignAction): CampaignStatus {
  if (moves[action].from.includes(status)) return moves[action].to;
  throw invalidTransition(status, `This campaign is ${status}: ${action} is not possible now.`);
}

/** Calls come into active campaigns alone. */
export function requireActive(status: CampaignStatus): void {
  if (status === 'active') return;
  throw invalidTransition(status, `This campaign is ${status}, and takes calls only while it is active.`);
}

export function requireUnfinished(status: CampaignStatus): void {
  if (allowedDeeds(status).length > 0) return;
  throw invalidTransition(status, `This campaign is ${status} and can no longer be changed.`);
}

function invalidTransition(status: CampaignStatus, why: string): Fault {
  const allowed = allowedDeeds(status);
  const hint = allowed.length === 0 ? 'Make a new campaign.' : `What is possible: ${allowed.join(', ')}.`;
  return new Fault('conflict', 'INVALID_TRANSITION', `${why} ${hint}`, { details: { allowed } });
}
