import { route, type SubscriptionOptions } from '@call-analysis/bus';
import { AuditEntryCreated } from '@call-analysis/events';
import type { Store } from './store.ts';

/** What this service hears. The names are data: they stand in the queues. */
export function consumers(store: Store): SubscriptionOptions[] {
  return [
    {
      consumer: 'key-management.audit',
      batchSize: 100,
      retries: 10,
      routes: [
        route({
          event: AuditEntryCreated,
          handle: (events) =>
            store.recordDeeds(
              events.map(({ id, time, subject, firmuuid, requestid, data }) => ({
                eventId: id,
                at: new Date(time),
                actor: data.actor,
                action: data.action,
                subject,
                firmUuid: firmuuid,
                requestId: requestid ?? '',
                address: data.address,
              })),
            ),
        }),
      ],
    },
  ];
}
