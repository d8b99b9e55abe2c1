import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { amountText, type Figure, ratioText } from './figure.ts';

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
export function recordFigures(
  measured: Measured,
  { order, quick }: { order: readonly string[]; quick: boolean },
): void {
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
