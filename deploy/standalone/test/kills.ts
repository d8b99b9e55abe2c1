import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { Client } from './client/new-firm.ts';

interface Rounds {
  readonly rounds: number;
  /** The shortest and longest pause before a kill. The longest is the duration of the last kill, if that was longer. */
  readonly pauseMs: readonly [number, number];
  /** Ends the kills early. */
  readonly over: AbortSignal;
}

/** Calls `kill` repeatedly, at random times. */
export async function killAtRandom(
  { rounds, pauseMs, over }: Rounds,
  kill: (round: number) => Promise<void>,
): Promise<void> {
  const [least, most] = pauseMs;
  let lastMs = 0;
  for (let round = 1; round <= rounds && !over.aborted; round++) {
    // On a slow machine, work must still get a chance to begin between two kills.
    await pause(randomInt(least, Math.max(most, Math.ceil(lastMs))));
    const mark = performance.now();
    await kill(round);
    lastMs = performance.now() - mark;
  }
}

/** All calls of the firm by partner_call_id. Every page must report exactly `calls` calls. */
export async function everyCall<Item extends { readonly partner_call_id: string }>(
  client: Client,
  calls: number,
): Promise<Map<string, Item>> {
  const seen = new Map<string, Item>();
  for (let page = 1; ; page++) {
    const { count, items } = await client.call<{ count: number; items: Item[] }>(
      'GET',
      `/api/v1/calls?page=${page}&size=100`,
    );
    expect(count).toBe(calls);
    if (items.length === 0) break;
    for (const item of items) seen.set(item.partner_call_id, item);
  }
  expect(seen.size).toBe(calls);
  return seen;
}
