import { AuditEntryAdded, AuditEntryCreated, FirmDataRemoved, FirmRemoved } from '@call-analysis/events';
import { consume, type Consumer } from '@call-analysis/service';
import { recordAuditEntries } from './audit/audit-log.ts';
import { recordRemovedData, removeAuditLog } from './firm-removal/remove-firm.ts';
import type { Store } from './store/store.ts';

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
  {
    consumer: 'key-management.firm-removals',
    retries: 10,
    routes: [consume(FirmRemoved, { each: removeAuditLog }), consume(FirmDataRemoved, { each: recordRemovedData })],
  },
];
