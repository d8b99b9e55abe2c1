// npm run evaluate: compares the answers of an analyst with the right ones. docs/evaluation.md describes it.
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ConfigFault } from '@call-analysis/runtime';
import type { Analyst } from '../../analysts/analyst.ts';
import { modelAnalyst } from '../../analysts/model/model-analyst.ts';
import { ruleAnalyst } from '../../analysts/rule-analyst.ts';
import { languageModelConfig, redacts } from '../../language-model/config.ts';
import { openLanguageModel } from '../../language-model/language-model.ts';
import { ModelFailure } from '../../language-model/outcome.ts';
import { defaultScorecard } from '../../scorecards/default-scorecard.ts';
import { type Examinee, judge, type Judged, joinJudged } from './judged-answers.ts';
import {
  EvaluationFault,
  parseScorecard,
  questionsOfScorecard,
  readLabelledConversations,
  readQuestionMap,
  WRITERS_QUESTIONS,
} from './labelled-conversations.ts';
import { measureConfidence } from './measure-confidence.ts';
import { compare, reportOf, writeComparison, writeReport } from './report.ts';
import { askService, fetchReviewedCalls, type ReviewedCalls } from './reviewed-calls.ts';

const USAGE = `npm run evaluate -- FILE… [--analyst rules|model] [--against rules|model] [--json]
                    [--scorecard FILE] [--questions FILE] [--write-confidence]
npm run evaluate -- --from-reviews URL [--analyst rules|model] [--against rules|model] [--json]
`;
/** Measured reliability of the rules. */
const CONFIDENCE = new URL('../../analysts/rules/confidence.json', import.meta.url);
const REVIEW_BELOW = 0.7;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 16_000;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      analyst: { type: 'string', default: 'rules' },
      against: { type: 'string' },
      json: { type: 'boolean', default: false },
      scorecard: { type: 'string' },
      questions: { type: 'string' },
      'from-reviews': { type: 'string' },
      'write-confidence': { type: 'boolean', default: false },
    },
  });
  const url = values['from-reviews'];
  if ((positionals.length === 0) === (url === undefined)) {
    throw new EvaluationFault(`Name files of labelled conversations, or the URL of a service.\n${USAGE}`);
  }
  const scorecard =
    values.scorecard === undefined
      ? defaultScorecard
      : parseScorecard(JSON.parse(await readFile(values.scorecard, 'utf8')), values.scorecard);
  const isMapped = values.scorecard === undefined || values.questions !== undefined;
  const questions = {
    ...questionsOfScorecard(scorecard),
    ...(isMapped ? await readQuestionMap(values.questions ?? WRITERS_QUESTIONS) : {}),
  };
  const groups: readonly ReviewedCalls[] =
    url === undefined
      ? [{ scorecard, conversations: await readLabelledConversations(positionals) }]
      : await fetchReviewedCalls(askService(url, requiredToken()));
  const judgeBy = async (name: string): Promise<Judged> => {
    const opened = openAnalyst(name);
    const judged: Judged[] = [];
    for (const group of groups) {
      const asked = url === undefined ? questions : questionsOfScorecard(group.scorecard);
      judged.push(await judge(opened, group.scorecard, asked, group.conversations));
    }
    return joinJudged(opened.analyst, judged);
  };
  const judged = await judgeBy(values.analyst);
  if (values['write-confidence']) {
    if (values.analyst !== 'rules' || url !== undefined || values.scorecard !== undefined) {
      throw new EvaluationFault('--write-confidence measures the rules under the default scorecard, on files.');
    }
    const table = await measureConfidence(scorecard, questions, groups[0]!.conversations);
    await writeFile(CONFIDENCE, `${JSON.stringify(table, null, 2)}\n`);
  }
  const report = reportOf(judged);
  const other = values.against === undefined ? null : await judgeBy(values.against);
  if (values.json) {
    const against = other === null ? {} : { against: reportOf(other), test: compare(judged, other) };
    console.log(JSON.stringify({ ...report, ...against }));
    return;
  }
  console.log(writeReport(report));
  if (other !== null) console.log(`\n${writeReport(reportOf(other))}\n\n${writeComparison(compare(judged, other))}`);
}

function openAnalyst(name: string): Examinee {
  if (name === 'rules') return { analyst: ruleAnalyst };
  if (name !== 'model')
    throw new EvaluationFault(`The analyst "${name}" is unknown; it must be rules or model.\n${USAGE}`);
  const config = languageModelConfig(process.env);
  if (config === null) throw new EvaluationFault('Set LLM_URL and LLM_MODEL for the language model.');
  // Each run detects the server's capabilities again.
  const model = openLanguageModel(config, { findStructured: async () => null, saveStructured: async () => {} });
  const { contextTokens, prices, concurrency } = config;
  return {
    analyst: patient(modelAnalyst(model, { reviewBelow: REVIEW_BELOW, contextTokens, prices })),
    redactForModel: redacts(config),
    concurrency,
  };
}

/** Asks again when the server is overloaded or away, so that a long evaluation survives a short outage. */
function patient(analyst: Analyst): Analyst {
  return {
    ...analyst,
    async analyze(conversation, scorecard, signal) {
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
        try {
          return await analyst.analyze(conversation, scorecard, signal);
        } catch (error) {
          const isAway = error instanceof ModelFailure && error.kind === 'away';
          if (!isAway || pauseMs > LONGEST_PAUSE_MS) throw error;
          await pause(error.retryAfterMs ?? pauseMs, undefined, { signal });
        }
      }
    },
  };
}

function requiredToken(): string {
  const token = process.env['EVALUATE_TOKEN'];
  if (token === undefined || token === '') {
    throw new EvaluationFault('Set EVALUATE_TOKEN to the bearer token of an ADMIN of the firm whose reviews count.');
  }
  return token;
}

try {
  await main();
} catch (error) {
  if (!isForPerson(error)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

/** Whether an error says by itself what the person who runs the command can do about it. */
function isForPerson(error: unknown): error is Error {
  if (error instanceof EvaluationFault || error instanceof ModelFailure || error instanceof ConfigFault) return true;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('ERR_PARSE_ARGS') || code === 'ENOENT' || code === 'EACCES';
}
