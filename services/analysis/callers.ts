import type { analysis } from '@call-analysis/proto';
import type { Callers } from '@call-analysis/rpc';

/** The services whose certificates may call each method of proto/analysis.proto. */
export const callers: Callers<typeof analysis> = {
  listScorecards: ['gateway'],
  createScorecard: ['gateway'],
  getScorecard: ['gateway', 'ingest'],
  getDefaultScorecard: ['gateway'],
  reviseScorecard: ['gateway'],
  activateScorecard: ['gateway'],
  tryScorecard: ['gateway'],
  getBudget: ['gateway'],
  setBudget: ['gateway'],
  listUsage: ['gateway'],
  estimateAnalyses: ['gateway'],
  addUp: ['ingest'],
  listRevisions: ['gateway'],
};
