// npm run evaluate: compares the answers of an analyst with the right ones. docs/evaluation.md describes it.
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import type { Analyst } from '../../analysts/analyst.ts';
import { ruleAnalyst } from '../../analysts/rule-analyst.ts';
import { defaultScorecard } from '../../scorecards/default-scorecard.ts';
import { draftSchema, type Scorecard, toScorecardBody } from '../../scorecards/scorecard.ts';
import { judge, type Judged } from './judged-answers.ts';
import { EvaluationFault, readLabelledConversations } from './labelled-conversations.ts';
import { measureConfidence } from './measure-confidence.ts';
import { questionsOfScorecard, readQuestionMap, WRITERS_QUESTIONS } from './questions.ts';
import { compare, reportOf, writeComparison, writeReport } from './report.ts';

const USAGE = `npm run evaluate -- FILE… [--analyst rules|model] [--against rules|model] [--json]
                    [--scorecard FILE] [--questions FILE] [--write-confidence]
`;

/** What the rules know of their own reliability. */
const CONFIDENCE = new URL('../../rules/confidence.json', import.meta.url);

const AnalystName = z.enum(['rules', 'model'], { error: 'must be rules or model' });
type AnalystName = z.infer<typeof AnalystName>;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      analyst: { type: 'string', default: 'rules' },
      against: { type: 'string' },
      json: { type: 'boolean', default: false },
      scorecard: { type: 'string' },
      questions: { type: 'string' },
      'write-confidence': { type: 'boolean', default: false },
    },
  });
  if (positionals.length === 0) throw new EvaluationFault(`Name a file of labelled conversations.\n${USAGE}`);
  const scorecard = values.scorecard === undefined ? defaultScorecard : await readScorecard(values.scorecard);
  const questions = {
    ...questionsOfScorecard(scorecard),
    ...(values.scorecard === undefined || values.questions !== undefined
      ? await readQuestionMap(values.questions ?? WRITERS_QUESTIONS)
      : {}),
  };
  const conversations = await readLabelledConversations(positionals);
  const judgeBy = async (name: string): Promise<Judged> =>
    judge(openAnalyst(analystName(name)), scorecard, questions, conversations);
  const judged = await judgeBy(values.analyst);
  if (values['write-confidence']) {
    if (values.analyst !== 'rules') throw new EvaluationFault('--write-confidence measures the rules.');
    const table = measureConfidence(judged.answers, scorecard, questions);
    await writeFile(CONFIDENCE, `${JSON.stringify(table, null, 2)}\n`);
  }
  const report = reportOf(judged);
  const comparison = values.against === undefined ? null : { other: await judgeBy(values.against) };
  const against = comparison && { report: reportOf(comparison.other), test: compare(judged, comparison.other) };
  if (values.json) {
    console.log(JSON.stringify(against === null ? report : { ...report, against: against.report, test: against.test }));
    return;
  }
  console.log(writeReport(report));
  if (against !== null) console.log(`\n${writeReport(against.report)}\n\n${writeComparison(against.test)}`);
}

function analystName(name: string): AnalystName {
  const parsed = AnalystName.safeParse(name);
  if (parsed.success) return parsed.data;
  throw new EvaluationFault(`The analyst "${name}" is unknown; it must be rules or model.\n${USAGE}`);
}

function openAnalyst(name: AnalystName): Analyst {
  if (name === 'rules') return ruleAnalyst;
  throw new EvaluationFault('Set LLM_URL and LLM_MODEL for the language model.');
}

/** A scorecard as the API shows it, or the document that made it. */
async function readScorecard(file: string): Promise<Scorecard> {
  const parsed = z
    .object({ name: z.unknown(), sections: z.unknown() })
    .safeParse(JSON.parse(await readFile(file, 'utf8')));
  const draft = draftSchema.safeParse(parsed.data);
  if (!draft.success) throw new EvaluationFault(`${file} is not a scorecard: ${z.prettifyError(draft.error)}`);
  const withoutUuid = draft.data.sections
    .flatMap(({ questions }) => questions)
    .filter(({ uuid }) => uuid === undefined);
  if (withoutUuid.length > 0) throw new EvaluationFault(`${file}: every question needs its uuid.`);
  return { ...toScorecardBody(draft.data, () => ''), uuid: '00000000-0000-4000-8000-000000000000', revision: 1 };
}

try {
  await main();
} catch (error) {
  const isUsage = error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
  if (!(error instanceof EvaluationFault) && !isUsage) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
