import { AuditEntryCreated, type BodyOf, createEvent, type Event } from '@call-analysis/events';
import { currentContext } from '@call-analysis/runtime';
import type { Actor } from '@call-analysis/service';

/** An entry about a campaign for the firm's audit log. Publish it in the transaction of the action. */
export function campaignAuditEntry(
  { firmUuid, userUuid, address }: Actor,
  action: BodyOf<typeof AuditEntryCreated>['action'],
  campaignUuid: string,
): Event<BodyOf<typeof AuditEntryCreated>> {
  const origin = { firmuuid: firmUuid, priority: 0, traceparent: currentContext()?.traceparent };
  return createEvent('ingest', AuditEntryCreated, campaignUuid, origin, { actor: userUuid, action, address });
}
