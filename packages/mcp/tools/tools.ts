import { explainScore } from './explain-score.ts';
import { getCall } from './get-call.ts';
import { getStatistics, listOperators } from './get-statistics.ts';
import { listScorecards } from './list-scorecards.ts';
import { searchCalls } from './search-calls.ts';
import type { Tool } from './tool.ts';

export const tools: readonly Tool[] = [
  searchCalls,
  getCall,
  getStatistics,
  listScorecards,
  explainScore,
  listOperators,
];

export const toolNames: ReadonlySet<string> = new Set(tools.map(({ name }) => name));
