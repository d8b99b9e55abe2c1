import { performance } from 'node:perf_hooks';
import type { Logger } from '../log/log.ts';

interface IdleMemoryOptions {
  readonly log: Logger;
  /** Between two checks. */
  readonly everyMs?: number;
  /** How much memory must have been added since the last time. Less is not worth a pause. */
  readonly worthBytes?: number;
}

/** The share of the time that a service is busy with its own checks when nobody uses it is 0.01 to 0.03. */
const IDLE_UTILIZATION = 0.05;

/**
 * Gives the memory of a load back to the operating system once the process is idle, with a collection that takes 0.1 to 0.2 s.
 * V8 itself keeps the pages that a load has emptied: after 30,000 short calls a process with 78 MB in its heap held 320 MiB,
 * also after a minute and after ordinary collections, and 175 MiB after this one. Needs `--expose-gc`; without it, does
 * nothing.
 */
export function returnIdleMemory({ log, everyMs = 10_000, worthBytes = 48 * 2 ** 20 }: IdleMemoryOptions): void {
  const { gc } = globalThis;
  if (gc === undefined) return;
  let kept = 0;
  let before = performance.eventLoopUtilization();
  setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    const held = process.memoryUsage.rss();
    if (utilization > IDLE_UTILIZATION || held < kept + worthBytes) return;
    const beganAt = performance.now();
    gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    kept = process.memoryUsage.rss();
    log.debug({ held, kept, tookMs: Math.round(performance.now() - beganAt) }, 'returned the memory of a past load');
  }, everyMs).unref();
}
