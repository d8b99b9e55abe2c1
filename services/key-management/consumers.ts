import { AuditEntryAdded, AuditEntryCreated } from '@call-analysis/events';
import { consume, type Consumer } from '@call-analysis/service';
import { recordAuditEntries } from './audit/record-audit-entries.ts';
import type { Store } from './store.ts';

export const consumers: readonly Consumer<{ readonly store: Store }>[] = [
  {
    consumer: 'key-management.audit',
    batchSize: 100,
    retries: 10,
    routes: [
      consume(AuditEntryCreated, { handle: recordAuditEntries }),
      consume(AuditEntryAdded, { handle: recordAuditEntries }),
    ],
  },
];
