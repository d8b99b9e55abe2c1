import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { amountText, type Figure, ratioText } from '../harness/figure.ts';

const help = `Usage: npm run bench -- [name…] [--json] [--quick] [--record]

Measures the service on this machine. Each figure has a yardstick from the same run. Without a name, runs all benchmarks.
Exits with 0 whatever the figures.

  csv-intake   rows of an uploaded CSV validated, deduplicated and committed
  call-cost    processor time and bytes of a short and a long call; processor time and memory of an idle service
  startup      second start, and memory when idle
  upload       a recording of 50 MB from the client to the store
  speech       the local engine: its speed and word error rate
  request      a request without work, compared with plain express
  get-calls    filters, cursors and search among a million calls of one firm, at rest and while calls are processed, compared
               with the same SQL by bare pg behind express
  ten-million  the same at rest among ten million calls; only by its name, as it takes an hour and 20 GB
  statistics   every grouping of a month and a year of ten million calls, compared with a plain aggregate
  webhooks     deliveries to an endpoint on this machine, and the memory of those that wait
  distributed  batches with a process for each service, Kafka and S3, compared with one process; only by its name (or
               npm run bench:distributed), as it starts Kafka and S3 by containers, or by Java, Maven and Go

  --quick      smaller inputs: a few seconds each, rougher figures
  --json       an array of figures instead of a table
  --record     also writes the figures to docs/performance.md`;

interface Benchmark {
  run(options: { quick: boolean }): Promise<Figure[]>;
}

/** By name, in the order in which they run. */
const benchmarks: Readonly<Record<string, () => Promise<Benchmark>>> = {
  'csv-intake': () => import('./csv-intake.ts'),
  'call-cost': () => import('./call-cost.ts'),
  startup: () => import('./startup.ts'),
  upload: () => import('./upload.ts'),
  speech: () => import('./speech.ts'),
  request: () => import('./request.ts'),
  'get-calls': () => import('./lists/get-calls.ts'),
  'ten-million': async () => ({ run: (await import('./lists/get-calls.ts')).runTenMillion }),
  statistics: () => import('./lists/statistics.ts'),
  webhooks: () => import('./webhooks.ts'),
  distributed: () => import('../distributed.ts'),
};
const ONLY_BY_NAME = ['ten-million', 'distributed'];

const PAGE = new URL('../../docs/performance.md', import.meta.url);
const GIB = 1024 ** 3;
const HEADING = '### ';

const BEGIN = '<!-- standalone: written by npm run bench -- --record -->\n';
const END = '<!-- end of standalone -->\n';

/** Replaces the figures of these benchmarks in docs/performance.md, with the machine and the date. Those of the others stay. */
function recordFigures(measured: Readonly<Record<string, readonly Figure[]>>, quick: boolean): void {
  const text = readFileSync(PAGE, 'utf8');
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error('docs/performance.md has no marks.');
  const parts = partsOf(text.slice(from + BEGIN.length, to));
  for (const [name, figures] of Object.entries(measured))
    parts.set(name, `${conditions(quick)}\n\n${tableOf(figures)}`);
  const written = Object.keys(benchmarks)
    .filter((name) => parts.has(name))
    .map((name) => `${HEADING}${name}\n\n${parts.get(name)!}\n`);
  writeFileSync(PAGE, `${text.slice(0, from)}${BEGIN}${written.join('\n')}${text.slice(to)}`);
}

/** The text below each benchmark's heading. */
function partsOf(section: string): Map<string, string> {
  const parts = section.split(new RegExp(`^${HEADING}`, 'm')).slice(1);
  return new Map(
    parts.map((part) => {
      const lineEnd = part.indexOf('\n');
      return [part.slice(0, lineEnd), part.slice(lineEnd).trim()];
    }),
  );
}

function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { name, value, unit, yardstick, goal, holds } = figure;
    const wanted = goal === 'none' ? '' : holds ? goal : `${goal}, **missed**`;
    return `| ${name} | ${amountText(value)} ${unit} | ${yardstick.name}: ${amountText(yardstick.value)} | ${ratioText(figure)} | ${wanted} |`;
  });
  return `| figure | value | yardstick | ratio | goal |\n|---|---|---|---|---|\n${rows.join('\n')}`;
}

function conditions(quick: boolean): string {
  const [cpu] = cpus();
  const day = new Date().toISOString().slice(0, 10);
  const machine = `${availableParallelism()} cores (${cpu?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / GIB)} GiB`;
  return `${day}, ${machine}, Node ${process.version}${quick ? ', smaller inputs (`--quick`)' : ''}`;
}

function readCommand() {
  const flag = { type: 'boolean', default: false } as const;
  const options = { json: flag, quick: flag, record: flag, help: { ...flag, short: 'h' } } as const;
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const unknown = positionals.find((name) => !Object.hasOwn(benchmarks, name));
    if (unknown !== undefined) throw new Error(`There is no benchmark ${unknown}.`);
    return {
      ...values,
      names:
        positionals.length > 0 ? positionals : Object.keys(benchmarks).filter((name) => !ONLY_BY_NAME.includes(name)),
    };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${help}`);
    process.exit(2);
  }
}

const { names, json, quick, record, ...asked } = readCommand();
if (asked.help) {
  console.log(help);
  process.exit(0);
}
const measured: Record<string, readonly Figure[]> = {};
const scratch = await mkdtemp(join(tmpdir(), 'call-analysis-bench-'));
// The folder of the first start, which startService copies.
process.env['TEST_SCRATCH'] ??= scratch;
try {
  for (const name of names) {
    console.error(`measuring ${name}…`);
    const benchmark = await benchmarks[name]!();
    measured[name] = await benchmark.run({ quick });
  }
} finally {
  await rm(scratch, { recursive: true, force: true });
}
const figures = Object.values(measured).flat();
console.log(json ? JSON.stringify(figures, null, 2) : tableOf(figures));
if (record) recordFigures(measured, quick);
