import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { amountText, type Figure, ratioText } from './figure.ts';

const PAGE = new URL('../../docs/performance.md', import.meta.url);
const GIB = 1024 ** 3;

/** The tables of docs/performance.md. */
export type PerformanceTable = 'standalone' | 'distributed';

/** Replaces a table of docs/performance.md with these figures, the machine and the date. */
export function recordFigures(table: PerformanceTable, figures: readonly Figure[]): void {
  const begin = `<!-- ${table}: written by npm run bench${table === 'distributed' ? ':distributed' : ''} -- --record -->\n`;
  const end = `<!-- end of ${table} -->\n`;
  const text = readFileSync(PAGE, 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/performance.md has no marks for the table ${table}.`);
  writeFileSync(PAGE, `${text.slice(0, from)}${begin}${tableOf(figures)}${text.slice(to)}`);
}

function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { name, value, unit, yardstick, goal, holds } = figure;
    const wanted = goal === 'none' ? '' : holds ? goal : `${goal}, **missed**`;
    return `| ${name} | ${amountText(value)} ${unit} | ${yardstick.name}: ${amountText(yardstick.value)} | ${ratioText(figure)} | ${wanted} |`;
  });
  return `${machine()}\n\n| figure | value | yardstick | ratio | goal |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
}

function machine(): string {
  const [cpu] = cpus();
  const day = new Date().toISOString().slice(0, 10);
  return `${day}, ${availableParallelism()} cores (${cpu?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / GIB)} GiB, Node ${process.version}`;
}
