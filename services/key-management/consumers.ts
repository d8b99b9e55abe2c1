import { AuditEntryCreated } from '@call-analysis/events';
import { consume, type Consumer } from '@call-analysis/service';
import type { Store } from './store.ts';

export const consumers: readonly Consumer<{ readonly store: Store }>[] = [
  {
    consumer: 'key-management.audit',
    batchSize: 100,
    retries: 10,
    routes: [
      consume(AuditEntryCreated, {
        handle: ({ store }, events) =>
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
