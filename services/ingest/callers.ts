import type { ingest } from '@call-analysis/proto';
import type { Callers } from '@call-analysis/rpc';

/** Who may call a method of proto/ingest.proto, where it is not the gateway alone. */
export const callers: Callers<typeof ingest> = {
  retryFailedCalls: ['admin'],
  registerCall: ['audio'],
  recordAudio: ['audio'],
  findCalls: ['audio'],
};
