/** One figure of a metric, as it stands on the page. */
export interface Sample {
  /** Behind the metric's name: `_sum`, `_bucket` or nothing. */
  readonly suffix: string;
  /** Names and values by turns. */
  readonly labels: readonly string[];
  readonly value: number;
}

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  samples(): Iterable<Sample> | Promise<Iterable<Sample>>;
}

/** Label values in the order of their names. Only what the source code bounds: never a uuid, a path or a name. */
export type LabelValues<Names extends readonly string[]> = { readonly [Index in keyof Names]: string };

/** Beyond so many, what is new is counted under `other`: a mistake must not cost memory without end. */
const MOST_SERIES = 2000;
const BEYOND = 'other';

const metrics = new Map<string, Metric>();

/** All of this process, in the order of their making. */
export function allMetrics(): Iterable<Metric> {
  return metrics.values();
}

/** A count that only grows, for as long as the process lives. */
export function counter<const Names extends readonly string[]>(
  name: string,
  help: string,
  labels: Names,
): Family<Names, Count> {
  return register(new Family('counter', name, help, labels, () => new Count()));
}

/** How often how much was seen. `bounds` are the upper ends of the buckets, in the unit that ends the name. */
export function histogram<const Names extends readonly string[]>(
  name: string,
  help: string,
  labels: Names,
  bounds: readonly number[] = SECONDS,
): Family<Names, Distribution> {
  return register(new Family('histogram', name, help, labels, () => new Distribution(bounds)));
}

/** How things stand, asked for when somebody looks. */
export function gauge<const Names extends readonly string[]>(name: string, help: string, labels: Names): Gauge<Names> {
  return register(new Gauge(name, help, labels));
}

/** From a millisecond to half a minute. */
export const SECONDS: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

function register<M extends Metric>(metric: M): M {
  if (metrics.has(metric.name)) throw new Error(`There are two metrics of the name ${metric.name}.`);
  metrics.set(metric.name, metric);
  return metric;
}

interface Series {
  samples(): Iterable<{ suffix: string; labels: readonly string[]; value: number }>;
}

type Branch<Each> = Map<string, Branch<Each> | Each>;

/** A metric with one series for each combination of label values that occurs. */
export class Family<Names extends readonly string[], Each extends Series> implements Metric {
  readonly type: Metric['type'];
  readonly name: string;
  readonly help: string;
  readonly #labels: Names;
  readonly #make: () => Each;
  readonly #series: { readonly labels: readonly string[]; readonly each: Each }[] = [];
  // By one label after the other: joining the values to one key would cost more than counting.
  readonly #tree: Branch<Each> = new Map();

  constructor(type: Metric['type'], name: string, help: string, labels: Names, make: () => Each) {
    this.type = type;
    this.name = name;
    this.help = help;
    this.#labels = labels;
    this.#make = make;
  }

  of(...values: LabelValues<Names>): Each {
    if (values.length === 0) return this.#series[0]?.each ?? this.#add(values);
    let found: Branch<Each> | Each | undefined = this.#tree;
    for (const value of values) {
      if (found === undefined) break;
      found = (found as Branch<Each>).get(value);
    }
    return (found as Each | undefined) ?? this.#add(values);
  }

  #add(values: LabelValues<Names>): Each {
    if (this.#series.length >= MOST_SERIES && values.some((value) => value !== BEYOND)) {
      return this.of(...(values.map(() => BEYOND) as unknown as LabelValues<Names>));
    }
    const each = this.#make();
    this.#series.push({ labels: pairs(this.#labels, values), each });
    let branch = this.#tree;
    const last = values.at(-1);
    if (last === undefined) return each;
    for (const value of values.slice(0, -1)) {
      const next = (branch.get(value) as Branch<Each> | undefined) ?? new Map();
      branch.set(value, next);
      branch = next;
    }
    branch.set(last, each);
    return each;
  }

  *samples(): Iterable<Sample> {
    for (const { labels, each } of this.#series) {
      for (const sample of each.samples()) yield { ...sample, labels: [...labels, ...sample.labels] };
    }
  }
}

export class Count {
  #value = 0;

  add(more = 1): void {
    this.#value += more;
  }

  samples(): Iterable<Sample> {
    return [{ suffix: '', labels: [], value: this.#value }];
  }
}

export class Distribution {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > this.#bounds[bucket]!) bucket++;
    this.#counts[bucket]! += 1;
    this.#sum += value;
  }

  *samples(): Iterable<Sample> {
    let count = 0;
    for (const [bucket, bound] of [...this.#bounds, '+Inf'].entries()) {
      count += this.#counts[bucket]!;
      yield { suffix: '_bucket', labels: ['le', String(bound)], value: count };
    }
    yield { suffix: '_sum', labels: [], value: this.#sum };
    yield { suffix: '_count', labels: [], value: count };
  }
}

export interface Reading<Names extends readonly string[]> {
  readonly labels: LabelValues<Names>;
  readonly value: number;
}

type Source<Names extends readonly string[]> = () => readonly Reading<Names>[] | Promise<readonly Reading<Names>[]>;

/** A source that takes longer is left out: who asks for the page waits for ten seconds in all, and wants the rest. */
const PATIENCE_MS = 2000;

const unread = counter('metrics_unread_total', 'Gauges that could not be read when the page was asked for.', [
  'metric',
]);

export class Gauge<Names extends readonly string[]> implements Metric {
  readonly type = 'gauge';
  readonly name: string;
  readonly help: string;
  readonly #labels: Names;
  readonly #sources = new Set<Source<Names>>();

  constructor(name: string, help: string, labels: Names) {
    this.name = name;
    this.help = help;
    this.#labels = labels;
  }

  /** Asks this source too, until what it returns is called. Readings must be cheap: `remembered` makes them so. */
  from(source: Source<Names>): () => void {
    this.#sources.add(source);
    return () => void this.#sources.delete(source);
  }

  /** What cannot be read is absent. */
  async samples(): Promise<Iterable<Sample>> {
    const readings = await Promise.all([...this.#sources].map((source) => this.#read(source)));
    return readings.flat().map(({ labels, value }) => ({ suffix: '', labels: pairs(this.#labels, labels), value }));
  }

  async #read(source: Source<Names>): Promise<readonly Reading<Names>[]> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error('too late')), PATIENCE_MS);
    try {
      return await Promise.race([source(), late.promise]);
    } catch {
      // Whatever is the matter with what was to be measured, its owner logs it.
      unread.of(this.name).add();
      return [];
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Asks at most once in so long, however many gauges and pages want to know; a failure is not remembered. */
export function remembered<Answer>(forMs: number, ask: () => Promise<Answer>): () => Promise<Answer> {
  let answer: Promise<Answer> | undefined;
  let askedAt = 0;
  return () => {
    if (answer !== undefined && performance.now() - askedAt < forMs) return answer;
    askedAt = performance.now();
    const asked = ask();
    answer = asked;
    asked.catch(() => {
      if (answer === asked) answer = undefined;
    });
    return asked;
  };
}

function pairs(names: readonly string[], values: readonly string[]): string[] {
  return names.flatMap((name, at) => [name, values[at] ?? '']);
}
