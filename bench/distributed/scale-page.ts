import { readFileSync, writeFileSync } from 'node:fs';
import type { Figure } from '../harness/figure.ts';

/**
 * Computes the needs of more calls a day from the figures of `npm run -s bench:distributed -- --json`, and writes both to
 * docs/scale.md, between their marks. docs/scale.md has the formulas.
 */

const scale = new URL('../../docs/scale.md', import.meta.url);
const SCALES = [1e6, 1e8, 1e10] as const;

/** The share of a day's calls in its busiest hour; 1/24 if they came evenly. */
const BUSIEST_HOUR = 0.125;
/** How busy a core, a relay or a disk may be in that hour. */
const FILL = 0.5;
const COPIES_IN_KAFKA = 3;
const DAYS_IN_KAFKA = 30;
const RECORDED_SECONDS = 300;
/** Seconds of conversation, both channels, that one core transcribes in a second (docs/performance.md). */
const REAL_TIME = 20;
/** Two channels of 8 kHz, a byte a sample. */
const RECORDING_BYTES = RECORDED_SECONDS * 2 * 8_000;
/** The assumed limits of one PostgreSQL server: a large machine, with its disks less than half busy. */
const DATABASE_CORES = 32;
const DATABASE_LOG_BYTES = 100e6;
const DATABASE_BYTES = 20e12;
/** How long texts are kept in the database. */
const DAYS_IN_DATABASE = 90;
const PARTITIONS = 12;

const [path] = process.argv.slice(2);
if (path === undefined) {
  console.error('Usage: node bench/distributed/scale-page.ts FIGURES.json');
  process.exit(2);
}
const figures = JSON.parse(readFileSync(path, 'utf8')) as Figure[];

function find(name: string | RegExp): Figure {
  const found = figures.find((figure) => (typeof name === 'string' ? figure.name === name : name.test(figure.name)));
  if (found === undefined) throw new Error(`There is no figure ${name} in ${path}.`);
  return found;
}

/** Microseconds of processor time of a part for a call of five minutes. */
const cost = (part: string) => find(`a long call in ${part}`).value;
const left = (place: string) => find(`a long call leaves ${place}: all`).value;
const inPostgres = figures
  .filter(({ name }) => /^a long call in .*PostgreSQL/.test(name))
  .reduce((sum, { value }) => sum + value, 0);
const inIngestsDatabase = cost('ingest, PostgreSQL') + cost('PostgreSQL, the rest');
/** Events a second when one core publishes, relays, reads and handles all of them. */
const relayed = 1e6 / find('outbox, Kafka, inbox: of this in Node').value;

const peak = (calls: number) => (calls * BUSIEST_HOUR) / 3600;
const coresFor = (micros: number) => (calls: number) => (peak(calls) * micros) / 1e6 / FILL;
const processes = (part: string) => (calls: number) => Math.max(2, Math.ceil(coresFor(cost(part))(calls)));
const partitions = (calls: number) =>
  Math.ceil(Math.max(processes('analysis')(calls), processes('ingest')(calls)) / PARTITIONS) * PARTITIONS;
const byRelay = (calls: number) => peak(calls) / relayed / FILL;
const byCores = (calls: number) => coresFor(inIngestsDatabase)(calls) / DATABASE_CORES;
const byLog = (calls: number) => (peak(calls) * left('in its log')) / DATABASE_LOG_BYTES;
const byRoom = (calls: number) => (calls * DAYS_IN_DATABASE * left('in the database')) / DATABASE_BYTES;
const cells = (calls: number) =>
  Math.max(1, Math.ceil(Math.max(byRelay(calls), byCores(calls), byLog(calls), byRoom(calls))));

const needs: [string, (calls: number) => string][] = [
  ['calls a second in the busiest hour', (calls) => amount(peak(calls))],
  ['processes of gateway', (calls) => amount(processes('gateway')(calls))],
  ['processes of ingest', (calls) => amount(processes('ingest')(calls))],
  ['processes of analysis', (calls) => amount(processes('analysis')(calls))],
  [
    'partitions of `transcript.ready.v1` and `call.analyzed.v1`, all cells together',
    (calls) => amount(partitions(calls)),
  ],
  ['cores of PostgreSQL, all databases', (calls) => amount(coresFor(inPostgres)(calls))],
  ['cores of Kafka, three copies', (calls) => amount(COPIES_IN_KAFKA * coresFor(cost('Kafka'))(calls))],
  ['databases: tables and indexes, a day', (calls) => bytes(calls * left('in the database'))],
  ['databases: tables and indexes, a year', (calls) => bytes(365 * calls * left('in the database'))],
  ['their logs (WAL), a second in the busiest hour', (calls) => bytes(peak(calls) * left('in its log'))],
  [
    'Kafka, a second in the busiest hour, three copies',
    (calls) => bytes(COPIES_IN_KAFKA * peak(calls) * left('in Kafka, one copy')),
  ],
  [
    'Kafka, 30 days, three copies',
    (calls) => bytes(COPIES_IN_KAFKA * DAYS_IN_KAFKA * calls * left('in Kafka, one copy')),
  ],
  ['cells by the room of ingest’s database', (calls) => amount(byRoom(calls))],
  ['cells by the relay of ingest', (calls) => amount(byRelay(calls))],
  ['cells by the cores of its database', (calls) => amount(byCores(calls))],
  ['cells by the log of its database', (calls) => amount(byLog(calls))],
  ['**cells**', (calls) => amount(cells(calls))],
  ['recordings, a day, if every call has one', (calls) => bytes(calls * RECORDING_BYTES)],
  ['cores that transcribe them, around the clock', (calls) => amount((calls * RECORDED_SECONDS) / REAL_TIME / 86_400)],
];

const used: (string | RegExp)[] = [
  /^outbox, Kafka, inbox: \d/,
  /^batch of [\d,]+ calls, /,
  'idle, accepted to analysis begun, p99',
  /^upload of 50 MiB/,
  /^two processes of analysis/,
  'speed-up',
  'outbox, Kafka, inbox: of this in Node',
  /^batch of [\d,]+ calls of/,
  'processor time of a call',
  'processor time of a long call',
  'idle: all',
];

/** Smaller shares of the total, or of the uploaded row, are left out. */
const WORTH_TELLING = 0.03;
const ofLongCalls = figures.filter(
  ({ name, ratio }) => /^a long call (in|leaves) /.test(name) && ratio >= WORTH_TELLING,
);
const measured = [...used.map(find), ...ofLongCalls];

write(scale, 'figures', [
  '| figure | value | beside | ratio |',
  '|---|---:|---|---:|',
  ...measured.map(
    ({ name, value, unit, yardstick, ratio }) =>
      `| ${name} | ${round(value)} ${unit} | ${yardstick.name} ${round(yardstick.value)} | ${ratio.toFixed(2)} |`,
  ),
]);
write(scale, 'needs', [
  `| | ${SCALES.map((scale) => `${amount(scale)} a day`).join(' | ')} |`,
  `|---|${SCALES.map(() => '---:').join('|')}|`,
  ...needs.map(([what, of]) => `| ${what} | ${SCALES.map(of).join(' | ')} |`),
]);

/** Replaces the text between the marks of that name. */
function write(page: URL, name: string, lines: readonly string[]): void {
  const [begin, end] = [`<!-- ${name}: written by bench/distributed/scale-page.ts -->\n`, `<!-- end of ${name} -->\n`];
  const text = readFileSync(page, 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${page.pathname} has no marks for ${name}.`);
  writeFileSync(page, `${text.slice(0, from)}${begin}${lines.join('\n')}\n${text.slice(to)}`);
}

function round(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}

function amount(count: number): string {
  return count < 1 ? count.toPrecision(1) : scaled(count, ['', ' k', ' M', ' G']);
}

function bytes(count: number): string {
  return scaled(count, [' B', ' kB', ' MB', ' GB', ' TB', ' PB', ' EB']);
}

function scaled(count: number, units: readonly string[]): string {
  let [rest, unit] = [count, 0];
  while (rest >= 1000 && unit < units.length - 1) [rest, unit] = [rest / 1000, unit + 1];
  return `${Number(rest.toPrecision(2))}${units[unit]}`;
}
