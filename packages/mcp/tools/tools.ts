import { explainScore, getCall, searchCalls } from './calls.ts';
import { getStatistics, listOperators } from './get-statistics.ts';
import { listScorecards } from './list-scorecards.ts';
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
