import type { Figure } from './figure.ts';

const help = `Usage: npm run bench -- [name…] [--json] [--quick]

Measures the service on this machine, each figure beside a yardstick in the same run.
Without a name everything is measured. Exits 0 whatever the figures.

  csv-intake   rows of an uploaded CSV checked, deduplicated and committed
  analysis     accepted calls brought to completion, and how soon an idle service begins
  startup      second start, and memory when idle
  api-keys     verification of API keys
  upload       a recording of 50 MB from the client to the store
  archive      a ZIP judged by its directory, and its recordings taken out
  probing      what is inside a recording, found without decoding it
  speech       the local engine: how fast, and how many words it gets wrong
  edge         a bare authenticated route beside plain express
  get-calls    filters, cursors and search among ten million calls of one firm
  campaigns    a hundred campaigns of a hundred thousand calls, listed with their counters

  --quick      smaller inputs: a few seconds each, rougher figures
  --json       an array of figures instead of a table`;

const benchmarks: Record<string, () => Promise<{ run(options: { quick: boolean }): Promise<Figure[]> }>> = {
  'csv-intake': () => import('./csv-intake.ts'),
  analysis: () => import('./analysis.ts'),
  startup: () => import('./startup.ts'),
  'api-keys': () => import('./api-keys.ts'),
  upload: () => import('./upload.ts'),
  archive: () => import('./archive.ts'),
  probing: () => import('./probing.ts'),
  speech: () => import('./speech.ts'),
  edge: () => import('./edge.ts'),
  'get-calls': () => import('./get-calls.ts'),
  campaigns: () => import('./campaigns.ts'),
};

const given = process.argv.slice(2);
if (given.includes('--help') || given.includes('-h')) {
  console.log(help);
  process.exit(0);
}
const names = given.filter((each) => !each.startsWith('--'));
const unknown = given.find((each) => (each.startsWith('--') ? !['--json', '--quick'].includes(each) : !(each in benchmarks)));
if (unknown !== undefined) {
  console.error(`There is no benchmark or option ${unknown}.\n\n${help}`);
  process.exit(2);
}

const figures: Figure[] = [];
for (const name of names.length > 0 ? names : Object.keys(benchmarks)) {
  console.error(`measuring ${name}…`);
  const benchmark = await benchmarks[name]!();
  figures.push(...(await benchmark.run({ quick: given.includes('--quick') })));
}
console.log(given.includes('--json') ? JSON.stringify(figures, null, 2) : table(figures));

function table(rows: readonly Figure[]): string {
  const cells = rows.map((figure) => [
    figure.name,
    `${number(figure.value)} ${figure.unit}`,
    `${figure.yardstick.name}: ${number(figure.yardstick.value)}`,
    figure.ratio.toFixed(2),
    figure.goal,
    figure.holds ? 'holds' : 'MISSED',
  ]);
  const all = [['figure', 'value', 'yardstick', 'ratio', 'goal', ''], ...cells];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ').trimEnd()).join('\n');
}

function number(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}
