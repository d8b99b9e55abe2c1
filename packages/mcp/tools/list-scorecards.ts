import { z } from 'zod';
import type { CallsApi, Schemas } from '../calls-api.ts';
import { page } from '../pages.ts';
import { cursor, tool } from './tool.ts';

const PAGE_SIZE = 100;

export const listScorecards = tool({
  name: 'list_scorecards',
  title: 'List scorecards',
  description:
    'Lists the scorecards of the firm, the newest first, with the questions of the newest revision: what calls are scored by. Needs the role ADMIN.',
  input: z.strictObject({ cursor }),
  async run(api, { cursor: from }) {
    const all = await everyScorecard(api);
    const items = await Promise.all(all.map(async ({ uuid }) => scorecardFacts(await api.getScorecard(uuid))));
    return page({ facts: { count: items.length }, name: 'scorecards', items, cursor: from });
  },
});

async function everyScorecard(api: CallsApi): Promise<Schemas['ScorecardSummary'][]> {
  const all: Schemas['ScorecardSummary'][] = [];
  for (let number = 1; ; number++) {
    const { count, items } = await api.listScorecards({ page: number, size: PAGE_SIZE });
    all.push(...items);
    if (items.length === 0 || all.length >= count) return all;
  }
}

function scorecardFacts({ sections, ...scorecard }: Schemas['Scorecard']) {
  return {
    ...scorecard,
    sections: sections.map(({ name, questions }) => ({
      name,
      questions: questions.map(({ uuid, text, weight, choices, decided }) => ({
        uuid,
        text,
        weight,
        choices,
        decided_by: decided.by,
      })),
    })),
  };
}
