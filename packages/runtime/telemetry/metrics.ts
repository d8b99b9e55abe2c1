import { setTimeout as pause } from 'node:timers/promises';
import client, { Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * Label values in the order of their names. Only values that the source code bounds: never a uuid, a path or a name.
 */
type LabelValues<Names extends readonly string[]> = { readonly [Index in keyof Names]: string };

/** A metric with one series for each combination of label values that occurs. */
interface Family<Names extends readonly string[], Series> {
  of(...values: LabelValues<Names>): Series;
}

interface Count {
  add(amount?: number): void;
}

interface Distribution {
  observe(value: number): void;
}

const registry = new Registry();

/** The prefix of all our metrics, as Prometheus advises. */
export const METRIC_PREFIX = 'call_analysis_';

/** Media type of the metrics page, the text format of Prometheus. */
export const EXPOSITION_TYPE = registry.contentType;

/** Producing the page takes some milliseconds of processor time, and anyone who reaches the port can request it. */
const PAGE_EVERY_MS = 250;

let hasProcessMetrics = false;
let pageMadeAt = Number.NEGATIVE_INFINITY;
let nextPage: Promise<string> | undefined;

/**
 * All metrics of this process, in the text format of Prometheus. The page is produced on request, at most four times a
 * second: concurrent requests get the same page.
 */
export function exposition(): Promise<string> {
  nextPage ??= makePage();
  return nextPage;
}

async function makePage(): Promise<string> {
  const sinceMs = performance.now() - pageMadeAt;
  // Waits even when there is no need to, so that the assignment below comes after the one of `nextPage`.
  await pause(sinceMs >= PAGE_EVERY_MS ? 0 : Math.min(PAGE_EVERY_MS, PAGE_EVERY_MS - sinceMs));
  // Later requests must see later values.
  nextPage = undefined;
  pageMadeAt = performance.now();
  // Measuring the event loop and garbage collection costs a process that is never asked nothing.
  if (!hasProcessMetrics) addProcessMetrics();
  hasProcessMetrics = true;
  return registry.metrics();
}

/** The gauges of prom-client that break a rule of Prometheus: `_total` is for counters. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

function addProcessMetrics(): void {
  client.collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
}

/** A count that only grows, from the start of the process. The page shows `name` after METRIC_PREFIX. */
export function counter<const Names extends readonly string[]>(
  name: string,
  help: string,
  labels: Names,
): Family<Names, Count> {
  const metric = new Counter({ name: METRIC_PREFIX + name, help, labelNames: labels, registers: [registry] });
  return bounded(labels, (...values) => {
    const series = metric.labels(...values);
    return { add: (amount = 1) => series.inc(amount) };
  });
}

/** `bounds` are the upper bounds of the buckets, in the unit that ends the name. */
export function histogram<const Names extends readonly string[]>(
  name: string,
  help: string,
  labels: Names,
  bounds: readonly number[] = SECONDS,
): Family<Names, Distribution> {
  const metric = new Histogram({
    name: METRIC_PREFIX + name,
    help,
    labelNames: labels,
    buckets: [...bounds],
    registers: [registry],
  });
  return bounded(labels, (...values) => metric.labels(...values));
}

/** Bounds from a millisecond to half a minute. */
const SECONDS: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * With more series, new combinations of labels are counted under `other`, so that a mistake does not fill the memory.
 */
const MAX_SERIES = 2000;

function bounded<Names extends readonly string[], Series>(
  labels: Names,
  create: (...values: string[]) => Series,
): Family<Names, Series> {
  const known = new Map<string, Series>();
  const of = (...values: LabelValues<Names>): Series => {
    const key = values.join('\0');
    const series = known.get(key);
    if (series !== undefined) return series;
    const isFull = known.size >= MAX_SERIES && values.some((value) => value !== 'other');
    if (isFull) return of(...(labels.map(() => 'other') as unknown as LabelValues<Names>));
    const created = create(...(values as readonly string[]));
    known.set(key, created);
    return created;
  };
  return { of };
}

interface Reading<Names extends readonly string[]> {
  readonly labels: LabelValues<Names>;
  readonly value: number;
}

type Source<Names extends readonly string[]> = () => readonly Reading<Names>[] | Promise<readonly Reading<Names>[]>;

/**
 * A source that takes longer is left out. Prometheus waits ten seconds for the complete page. A part that does not
 * answer is known after two.
 */
const READ_TIMEOUT_MS = 3000;

const unread = counter('metrics_unread_total', 'Gauges that could not be read when the page was asked for.', [
  'metric',
]);

interface GaugeFamily<Names extends readonly string[]> {
  /** Adds a source, until the returned function is called. A source must be cheap: `cachedFor` caches its answer. */
  from(source: Source<Names>): () => void;
}

/** Values that are read when the page is asked for. A source that cannot be read has no series on the page. */
export function gauge<const Names extends readonly string[]>(
  name: string,
  help: string,
  labels: Names,
): GaugeFamily<Names> {
  const sources = new Set<Source<Names>>();
  const metric = new Gauge({
    name: METRIC_PREFIX + name,
    help,
    labelNames: labels,
    registers: [registry],
    async collect() {
      const readings = await Promise.all([...sources].map((source) => read(name, source)));
      metric.reset();
      // Without labels, prom-client resets to 0 and not to nothing.
      if (labels.length === 0) metric.remove();
      for (const { labels: values, value } of readings.flat()) metric.labels(...values).set(value);
    },
  });
  return {
    from(source) {
      sources.add(source);
      return () => void sources.delete(source);
    },
  };
}

async function read<Names extends readonly string[]>(
  name: string,
  source: Source<Names>,
): Promise<readonly Reading<Names>[]> {
  const late = pause(READ_TIMEOUT_MS, null, { ref: false });
  const readings = await Promise.race([Promise.try(source), late]).catch(() => null);
  // The owner of the measured part logs its failures.
  if (readings === null) unread.of(name).add();
  return readings ?? [];
}

/**
 * Calls `ask` once at a time, however many gauges and pages need the answer, and again at the earliest this long after it
 * has come. A failure is not cached.
 */
export function cachedFor<Answer>(forMs: number, ask: () => Promise<Answer>): () => Promise<Answer> {
  let answer: Promise<Answer> | undefined;
  let until = 0;
  return () => {
    if (answer !== undefined && performance.now() < until) return answer;
    until = Infinity;
    answer = Promise.try(ask);
    answer.then(
      () => (until = performance.now() + forMs),
      () => (answer = undefined),
    );
    return answer;
  };
}
