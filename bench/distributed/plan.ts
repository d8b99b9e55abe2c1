import { readFileSync } from 'node:fs';
import type { Figure } from '../figure.ts';

/**
 * Prints what so many calls a day need, from the figures that `npm run -s bench:distributed -- --json` has printed into a
 * file. The formulas are those of docs/scale.md.
 */

/** Calls come in working hours: the busiest hour has so much of the day's, against 1/24 if they came evenly. */
const BUSIEST_HOUR = 0.125;
/** Machines are not to be busier than this in that hour. */
const FILL = 0.5;
/** A process uses one core for our code; the rest of what a call costs a service is in PostgreSQL. */
const COPIES_IN_KAFKA = 3;
const DAYS_IN_KAFKA = 30;
const RECORDED_SECONDS = 300;
/** Seconds of conversation, both channels, that one core hears in a second (README, "Figures"). */
const REAL_TIME = 20;
/** Telephone quality: two channels of 8 kHz, one byte each sample. */
const RECORDING_BYTES = RECORDED_SECONDS * 2 * 8_000;
/** A statement of one relay, in events a second, is what one outbox lets through. */
const SCALES = [1e6, 1e8, 1e10] as const;

const [path] = process.argv.slice(2);
if (path === undefined) {
  console.error('Usage: node bench/distributed/plan.ts FIGURES.json');
  process.exit(2);
}
const figures = JSON.parse(readFileSync(path, 'utf8')) as Figure[];

function value(name: string): number {
  const found = figures.find((figure) => figure.name === name);
  if (found === undefined) throw new Error(`There is no figure "${name}" in ${path}.`);
  return found.value;
}

/** Microseconds of processor time that a call of five minutes costs a part; nothing where it is not listed. */
function cost(part: string): number {
  return figures.find((figure) => figure.name === `a long call in ${part}`)?.value ?? 0;
}

const relayed = figures.find((figure) => /^outbox, Kafka, inbox: \d/.test(figure.name))?.value ?? Number.NaN;
const inPostgres = figures.filter(({ name }) => /^a long call in .*PostgreSQL/.test(name)).reduce((sum, figure) => sum + figure.value, 0);
const left = (place: string) => value(`a long call leaves ${place}: all`);

interface Row {
  readonly what: string;
  readonly of: (callsADay: number) => string;
}

const peak = (callsADay: number) => (callsADay * BUSIEST_HOUR) / 3600;
const cores = (micros: number) => (callsADay: number) => amount((peak(callsADay) * micros) / 1e6 / FILL);
const rows: Row[] = [
  { what: 'calls a second in the busiest hour', of: (calls) => amount(peak(calls)) },
  { what: 'cores of gateway', of: cores(cost('gateway')) },
  { what: 'cores of ingest', of: cores(cost('ingest')) },
  { what: 'cores of analysis', of: cores(cost('analysis')) },
  { what: 'cores of PostgreSQL, all databases', of: cores(inPostgres) },
  { what: 'cores of Kafka, one copy', of: cores(cost('Kafka')) },
  { what: 'facts a second in the busiest hour (3 a call)', of: (calls) => amount(3 * peak(calls)) },
  { what: 'outboxes of ingest to relay its share (1 a call)', of: (calls) => amount(Math.max(1, peak(calls) / relayed / FILL)) },
  { what: 'database, a day', of: (calls) => bytes(calls * left('in the database')) },
  { what: 'database, a year', of: (calls) => bytes(365 * calls * left('in the database')) },
  { what: 'its log, a second in the busiest hour', of: (calls) => bytes(peak(calls) * left('in its log')) },
  { what: 'Kafka, written a second in the busiest hour, three copies', of: (calls) => bytes(COPIES_IN_KAFKA * peak(calls) * left('in Kafka, one copy')) },
  { what: 'Kafka, 30 days, three copies', of: (calls) => bytes(COPIES_IN_KAFKA * DAYS_IN_KAFKA * calls * left('in Kafka, one copy')) },
  { what: 'recordings, a day, if every call has one', of: (calls) => bytes(calls * RECORDING_BYTES) },
  { what: 'cores that hear, if every call has one, around the clock', of: (calls) => amount((calls * RECORDED_SECONDS) / REAL_TIME / 86_400) },
];

console.log(`| | ${SCALES.map((scale) => `${amount(scale)} calls a day`).join(' | ')} |`);
console.log(`|---|${SCALES.map(() => '---:').join('|')}|`);
for (const { what, of } of rows) console.log(`| ${what} | ${SCALES.map(of).join(' | ')} |`);

function amount(count: number): string {
  if (count < 1) return count.toPrecision(1);
  return scaled(count, 1000, ['', ' k', ' M', ' G', ' T']);
}

function bytes(count: number): string {
  return scaled(count, 1000, [' B', ' kB', ' MB', ' GB', ' TB', ' PB', ' EB']);
}

function scaled(count: number, base: number, units: readonly string[]): string {
  let [rest, unit] = [count, 0];
  while (rest >= base && unit < units.length - 1) [rest, unit] = [rest / base, unit + 1];
  return `${Number(rest.toPrecision(2)).toLocaleString('en')}${units[unit]}`;
}
