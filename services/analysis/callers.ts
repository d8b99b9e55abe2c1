import type { analysis } from '@call-analysis/proto';
import type { Callers } from '@call-analysis/rpc';

/** Who may call a method of proto/analysis.proto, where it is not the gateway alone. */
export const callers: Callers<typeof analysis> = {
  getScorecard: ['gateway', 'ingest'],
  addUp: ['ingest'],
};
