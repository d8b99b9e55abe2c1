// npm run speech-accuracy: the accuracy of the speech engines on recordings by others. docs/performance.md has the
// figures.
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Fault } from '@call-analysis/fault';
import { commandEngine } from '../../engines/command/command-engine.ts';
import { commandConfig } from '../../engines/config.ts';
import { serverEngine } from '../../engines/server/server-engine.ts';
import type { SpeechEngine } from '../../engines/speech-engine.ts';
import { bundledModel, preparedBundledModel } from '../../models/bundled.ts';
import { findModels } from '../../models/find-models.ts';
import type { Model } from '../../models/model.ts';
import { openInProcessEngine, SAMPLE_RATE_HZ } from '../../test/in-process-engine.ts';
import { peakBytes, processorSeconds } from '../../test/process-figures.ts';
import { TranscriptionWorkerPool, type WorkerPoolOptions } from '../../workers/worker-pool.ts';
import { CallMaker, callName, type MadeCall } from './calls.ts';
import type { Compared } from './measure.ts';
import { comparisonOf, confidenceTable, tableOf } from './report.ts';
import { type Half, HALVES, speakers } from './speakers.ts';

const USAGE = `npm run speech-accuracy -- DIR [--calls N] [--from N] [--languages en=100,ru,…] [--half tuning|judging|unheard|fresh]
  [--speakers allison-en,…] [--url URL | --models DIR [--each]] [--command JSON]… [--by-hand] [--results FILE] [--record]

DIR is what "scripts/speech-material.sh DIR" made. --calls: calls of each language without a number of its own, 10 by
default. --from: leaves out so many calls of each, to measure others than before. --half: "tuning" for choosing thresholds;
figures are those of "judging", by default, "unheard" and "fresh". --speakers: these alone, by their names in speakers.ts.
--url: a server with OpenAI's API, measured instead of the bundled model. --models: a folder with models, likewise.
--each: compares the bundled model, each of the folder by itself and each --command (as SPEECH_COMMAND has it) on the same calls.
--by-hand: the bundled model also transcribes each line of its own, cut where it was put into the call. --results: keeps what is
transcribed in this file, and does not transcribe again what is in it. --record: writes the table into docs/performance.md; not with --each.`;

/**
 * A busy machine may take long, which is no reason to lose a run. The worker stays, so that its most memory is known.
 */
const ONE_WORKER = { size: 1, stallMs: 3_600_000, idleMs: 2 ** 31 - 1, maxResidentBytes: Infinity };
/** Seconds before and after a line that is cut by hand, as the segmenter leaves them. */
const PADDING = 0.25;
const DOCUMENT = new URL('../../../../docs/performance.md', import.meta.url);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    calls: { type: 'string', default: '10' },
    from: { type: 'string', default: '0' },
    languages: { type: 'string', default: 'en,ru,es,uz,ky,de,de-synthetic,fr,it,ja' },
    half: { type: 'string', default: 'judging' },
    speakers: { type: 'string' },
    url: { type: 'string' },
    models: { type: 'string' },
    each: { type: 'boolean', default: false },
    command: { type: 'string', multiple: true, default: [] },
    'by-hand': { type: 'boolean', default: false },
    results: { type: 'string' },
    record: { type: 'boolean', default: false },
  },
});
const [directory] = positionals;
const half = values.half as Half;
if (
  directory === undefined ||
  !HALVES.includes(half) ||
  !(Number(values.calls) > 0) ||
  (values.each && values.record)
) {
  console.error(USAGE);
  process.exit(2);
}

const work = mkdtempSync(join(tmpdir(), 'call-analysis-speech-'));
const maker = new CallMaker();
let cutter: ((call: MadeCall) => Promise<string[]>) | undefined;
const models = values.models === undefined ? [] : findModels(values.models);
const engines = values.each
  ? [
      byModels(bundledModel().name, []),
      ...models.map((model) => byModels(model.name, [model])),
      ...values.command.map(byCommand),
    ]
  : [
      values.url === undefined
        ? byModels(models[0]?.name ?? 'Moonshine tiny', models)
        : byEngine(
            serverEngine({ provider: 'openai', url: values.url, model: 'base', concurrency: 1 }),
            'Whisper base (server)',
          ),
    ];
try {
  // Otherwise the first worker would do it, which takes more memory than recognition.
  await preparedBundledModel(work);
  const names = values.speakers?.split(',');
  const all = speakers(directory, half).filter(({ name }) => names?.includes(name) ?? true);
  const measured = kept();
  const done = new Set(measured.map(({ engine, call }) => `${engine} ${call.name}`));
  cutter = values['by-hand'] ? await linesByHand() : undefined;
  // Languages take turns, so that a run that is interrupted has some of each; it prints the figures that it has.
  let isInterrupted = false;
  process.once('SIGINT', () => (isInterrupted = true));
  const sets = values.languages.split(',').map((each) => {
    const [set = '', number = values.calls] = each.split('=');
    return { set, calls: Number(number) };
  });
  for (let at = 0; at < Math.max(...sets.map(({ calls }) => calls)); at++) {
    for (const { set, calls } of sets) {
      const number = Number(values.from) + at;
      const left = engines.filter(({ name }) => !done.has(`${name} ${callName(set, half, number)}`));
      if (isInterrupted || at >= calls || left.length === 0) continue;
      const call = maker.make(
        all.filter((speaker) => speaker.set === set),
        half,
        number,
      );
      for (const engine of left) {
        const result = await measure(engine, call);
        measured.push(result);
        if (values.results !== undefined) appendFileSync(values.results, `${JSON.stringify(result)}\n`);
        const said = result.transcript?.utterances.map(({ text }) => text).join(' ') ?? 'refused';
        console.error(`${call.name}, ${call.codec}, ${call.speakers.join(' and ')}, ${engine.name}: ${said}`);
      }
      rmSync(call.file);
    }
  }
  const [{ name } = { name: '' }] = engines;
  const table = `${values.each ? comparisonOf(measured) : tableOf(name, measured)} ${conditions()}`;
  console.log(table);
  const byConfidence = values.each ? null : confidenceTable(measured);
  if (byConfidence !== null) console.log(`\nWords by the confidence of their utterances:\n\n${byConfidence}`);
  if (values.record) record(values['by-hand'] ? `${name}, cut by hand` : name, table);
} finally {
  for (const { pool } of engines) pool.close();
  maker.close();
  rmSync(work, { recursive: true, force: true });
}

function conditions(): string {
  const day = new Date().toISOString().slice(0, 10);
  const by = values.speakers === undefined ? '' : ` by ${values.speakers}`;
  return `Calls of the ${half} half${by}, ${day}, ${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}).`;
}

/** Returns the bundled model's text for every line of a call. */
async function linesByHand(): Promise<(call: MadeCall) => Promise<string[]>> {
  const engine = await openInProcessEngine(work);
  return async ({ file, format, lines }) => {
    const sound = await engine.decode(file, format);
    const texts: string[] = [];
    for (const { side, start, end } of lines) {
      const [from, to] = [start - PADDING, end + PADDING].map((time) => Math.max(0, Math.round(time * SAMPLE_RATE_HZ)));
      texts.push(await engine.recognize(sound[side].slice(from, to)));
    }
    return texts;
  };
}

function kept(): Compared[] {
  if (values.results === undefined || !existsSync(values.results)) return [];
  const lines = readFileSync(values.results, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Compared);
}

/** One engine, with the worker that it has to itself. */
interface MeasuredEngine {
  readonly name: string;
  readonly pool: TranscriptionWorkerPool;
}

function byModels(name: string, own: readonly Model[]): MeasuredEngine {
  const recognition: WorkerPoolOptions['recognition'] = () => ({ by: 'models', models: own, directory: work });
  return { name, pool: new TranscriptionWorkerPool({ ...ONE_WORKER, recognition }) };
}

function byCommand(text: string): MeasuredEngine {
  const config = commandConfig({ PATH: process.env.PATH, SPEECH_COMMAND: text })!;
  const engine = commandEngine({ ...config, workDirectory: work });
  return byEngine(engine, engine.name);
}

function byEngine(engine: SpeechEngine, name: string): MeasuredEngine {
  const { maxSegmentSeconds } = engine;
  const recognition: WorkerPoolOptions['recognition'] = () => ({ by: 'engine', name: engine.name, maxSegmentSeconds });
  return { name, pool: new TranscriptionWorkerPool({ ...ONE_WORKER, recognition, engine }) };
}

async function measure({ name, pool }: MeasuredEngine, call: MadeCall): Promise<Compared> {
  const [startedAt, spent] = [performance.now(), processorSecondsOf(pool)];
  const transcript = await pool.transcribe({ file: call.file, format: call.format, duration: 30 }).catch((error) => {
    if (error instanceof Fault && error.code === 'LANGUAGE_NOT_SUPPORTED') return null;
    throw error;
  });
  const took = (performance.now() - startedAt) / 1000;
  const processor = processorSecondsOf(pool) - spent;
  const byHand = transcript === null ? undefined : await cutter?.(call);
  return { engine: name, call, transcript, byHand, took, processor, residentBytes: residentOf(pool) };
}

/** Of the worker, and of programs that an engine has run and that have ended. */
function processorSecondsOf({ pids: [pid] }: TranscriptionWorkerPool): number {
  return (pid === undefined ? 0 : processorSeconds(pid).own) + processorSeconds(process.pid).children;
}

/** The peak memory of the worker in bytes; 0 if the system does not report it. */
function residentOf({ pids: [pid] }: TranscriptionWorkerPool): number {
  try {
    return pid === undefined ? 0 : peakBytes(pid);
  } catch {
    return 0;
  }
}

function record(name: string, table: string): void {
  const [begin, end] = [
    `<!-- speech, ${name}: written by npm run speech-accuracy -- --record -->`,
    `<!-- end of ${name} -->`,
  ];
  const text = readFileSync(DOCUMENT, 'utf8');
  const [before, rest] = text.split(begin);
  if (rest === undefined) throw new Error(`docs/performance.md has no place for ${name}.`);
  writeFileSync(DOCUMENT, `${before}${begin}\n\n${table}\n\n${end}${rest.slice(rest.indexOf(end) + end.length)}`);
}
