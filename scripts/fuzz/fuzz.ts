import { setTimeout as pause } from 'node:timers/promises';
import { type Random, randomOf } from '../../packages/testing/random.ts';
import type { Target } from './target.ts';

/** Values at which lengths, counts and offsets often go wrong. */
const EDGES = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];

/**
 * Changes an input in one to six places: bits, bytes, numbers, pieces removed, repeated, moved, cut off, or replaced by a
 * word of the format or by a piece of another input.
 */
function mutate(input: Buffer, others: readonly Buffer[], words: readonly Buffer[], random: Random): Buffer {
  let bytes: Buffer = Buffer.from(input);
  for (let changes = 1 + random.integer(1 + random.integer(6)); changes > 0; changes--)
    bytes = change(bytes, others, words, random);
  return bytes;
}

function change(bytes: Buffer, others: readonly Buffer[], words: readonly Buffer[], random: Random): Buffer {
  if (bytes.length === 0) return Buffer.from(random.pick(words));
  const at = random.integer(bytes.length);
  const length = 1 + random.integer(Math.min(64, bytes.length - at));
  const replace = (removed: number, by: Uint8Array) =>
    Buffer.concat([bytes.subarray(0, at), by, bytes.subarray(at + removed)]);
  switch (random.integer(9)) {
    case 0:
      bytes[at]! ^= 1 << random.integer(8);
      return bytes;
    case 1:
      bytes[at] = random.integer(256);
      return bytes;
    case 2: {
      const width = random.pick([1, 2, 4].filter((each) => at + each <= bytes.length));
      bytes.writeUIntLE(random.pick(EDGES) % 2 ** (8 * width), at, width);
      return bytes;
    }
    case 3:
      return replace(length, new Uint8Array());
    case 4:
      return replace(0, bytes.subarray(at, at + length));
    case 5: {
      const from = random.integer(bytes.length);
      return replace(length, bytes.subarray(from, from + length));
    }
    case 6:
      return bytes.subarray(0, at);
    case 7:
      return replace(random.integer(2) * length, random.pick(words));
    default: {
      const other = random.pick(others);
      const from = random.integer(other.length);
      return replace(length, other.subarray(from, from + 1 + random.integer(200)));
    }
  }
}

interface FuzzFigures {
  readonly runs: number;
  readonly seed: number;
  /** Inputs by outcome: `accepted` or the code of the refusal. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly seconds: number;
  readonly slowestMs: number;
  /** Of the heap after garbage collection, from the first tenth of the runs to the end. */
  readonly grownMiB: number;
  /** Inputs that crashed, hung or broke a promise, in base64. */
  readonly findings: readonly { readonly run: number; readonly why: string; readonly input: string }[];
}

const HANGS_MS = 10_000;
/** An input with a new outcome joins those that are mutated, up to this number. */
const MOST_INPUTS = 200;
const MOST_FINDINGS = 10;
const SAY_EVERY_MS = 10_000;
const MIB = 1024 ** 2;

/** Gives mutated inputs to a target. Each run depends on the seed, its number and the outcomes of earlier runs alone. */
export async function fuzz(
  target: Target,
  options: { runs: number; seed: number; say?: (line: string) => void },
): Promise<FuzzFigures> {
  const { runs, seed, say = () => {} } = options;
  const random = randomOf(seed, 'inputs');
  const inputs = [...target.seeds];
  const outcomes: Record<string, number> = {};
  const findings: FuzzFigures['findings'][number][] = [];
  const stray: unknown[] = [];
  const onStray = (error: unknown) => void stray.push(error);
  process.on('uncaughtException', onStray);
  process.on('unhandledRejection', onStray);
  const began = performance.now();
  let [slowestMs, saidAt, early] = [0, began, 0];
  try {
    for (let run = 1; run <= runs && findings.length < MOST_FINDINGS; run++) {
      const input = run <= inputs.length ? inputs[run - 1]! : mutate(random.pick(inputs), inputs, target.words, random);
      const mark = performance.now();
      const { outcome, error } = await attempt(target, input, random);
      const ms = performance.now() - mark;
      slowestMs = Math.max(slowestMs, ms);
      const reason = stray.length > 0 ? stray.splice(0)[0] : error;
      if (reason !== undefined) {
        const why = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
        findings.push({ run, why, input: input.toString('base64') });
      }
      if (outcome !== undefined) {
        if (outcomes[outcome] === undefined && inputs.length < MOST_INPUTS) inputs.push(input);
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      }
      if (run === Math.ceil(runs / 10)) early = heapBytes();
      if (performance.now() - saidAt > SAY_EVERY_MS) {
        saidAt = performance.now();
        say(`${run} of ${runs} runs, ${findings.length} findings`);
      }
    }
    // Errors of streams that nobody listens to come late.
    await pause(50);
    for (const error of stray) findings.push({ run: runs, why: `afterwards: ${String(error)}`, input: '' });
  } finally {
    process.off('uncaughtException', onStray);
    process.off('unhandledRejection', onStray);
  }
  return {
    runs,
    seed,
    outcomes,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    slowestMs: Math.round(slowestMs),
    grownMiB: Math.round(((heapBytes() - early) / MIB) * 10) / 10,
    findings,
  };
}

async function attempt(target: Target, input: Buffer, random: Random): Promise<{ outcome?: string; error?: unknown }> {
  const over = new AbortController();
  const hangs = pause(HANGS_MS, undefined, { signal: over.signal }).then(
    () => ({ error: new Error(`It hangs: no outcome within ${HANGS_MS / 1000} s.`) }),
    () => ({}),
  );
  try {
    const run = target.run(input, random).then(
      (outcome) => ({ outcome }),
      (error: unknown) => ({ error }),
    );
    return await Promise.race([run, hangs]);
  } finally {
    over.abort();
  }
}

/** After a garbage collection, where node runs with --expose-gc. */
function heapBytes(): number {
  (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage().heapUsed;
}
