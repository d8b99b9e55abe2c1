import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { amountText, type Figure, ratioText } from './figure.ts';

export interface Benchmark {
  run(options: { quick: boolean }): Promise<Figure[]>;
}

/** Benchmarks by name, in the order in which they run. */
export type Benchmarks = Readonly<Record<string, () => Promise<Benchmark>>>;

/** The options of the command line. Ends the process on --help and on unknown options. */
interface Asked {
  readonly names: readonly string[];
  readonly quick: boolean;
  readonly json: boolean;
  /** Also writes the figures of these benchmarks to docs/performance.md. */
  readonly record: boolean;
}

export function readCommand(benchmarks: Benchmarks, help: string): Asked {
  const given = process.argv.slice(2);
  if (given.includes('--help') || given.includes('-h')) {
    console.log(help);
    process.exit(0);
  }
  const names = given.filter((each) => !each.startsWith('--'));
  const unknown = given.find((each) =>
    each.startsWith('--') ? !['--json', '--quick', '--record'].includes(each) : !(each in benchmarks),
  );
  if (unknown !== undefined) {
    console.error(`There is no benchmark or option ${unknown}.\n\n${help}`);
    process.exit(2);
  }
  return {
    names: names.length > 0 ? names : Object.keys(benchmarks),
    quick: given.includes('--quick'),
    json: given.includes('--json'),
    record: given.includes('--record'),
  };
}

/** Runs the benchmarks and prints their figures. */
export async function measure(benchmarks: Benchmarks, { names, quick, json, record }: Asked): Promise<void> {
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
  if (record) recordFigures(measured, { order: Object.keys(benchmarks), quick });
}

const PAGE = new URL('../../docs/performance.md', import.meta.url);
const GIB = 1024 ** 3;
const HEADING = '### ';

const BEGIN = '<!-- standalone: written by npm run bench -- --record -->\n';
const END = '<!-- end of standalone -->\n';

/** The figures of the benchmarks that ran, by name. */
type Measured = Readonly<Record<string, readonly Figure[]>>;

/**
 * Replaces the figures of these benchmarks in docs/performance.md, with the machine and the date. Those of the others stay.
 * `order` has the names of all benchmarks.
 */
function recordFigures(measured: Measured, { order, quick }: { order: readonly string[]; quick: boolean }): void {
  const text = readFileSync(PAGE, 'utf8');
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error('docs/performance.md has no marks.');
  const parts = partsOf(text.slice(from + BEGIN.length, to));
  for (const [name, figures] of Object.entries(measured))
    parts.set(name, `${conditions(quick)}\n\n${tableOf(figures)}`);
  const written = order.filter((name) => parts.has(name)).map((name) => `${HEADING}${name}\n\n${parts.get(name)!}\n`);
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
