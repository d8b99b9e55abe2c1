import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { Client } from './client/new-firm.ts';

interface Rounds {
  readonly rounds: number;
  /** How long it waits before each, at least and less than; up to as long as the last round took, where that is more. */
  readonly pauseMs: readonly [number, number];
  /** Ends it early. */
  readonly over: AbortSignal;
}

/** Kills round after round, at moments of nobody's choosing. */
export async function killAtRandom(
  { rounds, pauseMs, over }: Rounds,
  kill: (round: number) => Promise<void>,
): Promise<void> {
  const [least, most] = pauseMs;
  let lastMs = 0;
  for (let round = 1; round <= rounds && !over.aborted; round++) {
    // Where everything is slow, there is still time between two kills for something to begin.
    await pause(randomInt(least, Math.max(most, Math.ceil(lastMs))));
    const mark = performance.now();
    await kill(round);
    lastMs = performance.now() - mark;
  }
}

/** The firm's calls by their partner_call_id, page by page; every page counts exactly so many. */
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
