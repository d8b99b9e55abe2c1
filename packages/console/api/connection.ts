import { onlineManager } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { isReachable } from '../session/session.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 8_000;

let looking: Promise<void> | null = null;

/**
 * A request was not answered. While the service does not respond, queries and saves wait (the network mode of TanStack
 * Query), and every page says so; they go on by themselves when it is back.
 */
export function connectionLost(): void {
  void untilReachable();
}

/** Resolves when the service responds. */
export async function untilReachable(): Promise<void> {
  looking ??= look().finally(() => {
    looking = null;
  });
  return looking;
}

async function look(): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; !(await isReachable()); pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    onlineManager.setOnline(false);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  onlineManager.setOnline(true);
}

export function useIsOnline(): boolean {
  return useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  );
}

/** Fetches a part of the console itself, again once the service responds. Rejects when the service responds without it. */
export async function whenOnline<Part>(load: () => Promise<Part>): Promise<Part> {
  for (;;) {
    try {
      return await load();
    } catch (error) {
      if (await isReachable()) throw error;
      await untilReachable();
    }
  }
}
