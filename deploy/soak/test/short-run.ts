import { expect } from '@jest/globals';
import { soak } from '../soak.ts';

/** A run that must hold. Its progress is shown when it does not. */
export async function shortRun(options: { calls: number; kills: number; isDistributed: boolean }): Promise<void> {
  const lines: string[] = [];
  const figures = await soak({
    ...options,
    seed: 1,
    over: new AbortController().signal,
    say: (line) => lines.push(line),
  });
  const kinds = Object.entries(figures.faults).filter(([, { count }]) => count > 0);
  expect({ kinds, log: figures.holds ? [] : lines }).toEqual({ kinds: [], log: [] });
  expect(figures.accepted).toBeGreaterThanOrEqual(options.calls);
  expect(Object.values(figures.kills).reduce((sum, count) => sum + count, 0)).toBe(options.kills);
  expect(figures.webhooks.requests).toBeGreaterThanOrEqual(options.calls - figures.erased);
}
