import { ApiError, Unreachable } from '@call-analysis/client/errors';
import { onlineManager, QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { isReachable, onUserChange } from '../session/session.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 8_000;

let looking: Promise<void> | null = null;

/**
 * Resolves when the service responds. Until then queries and saves wait (the network mode of TanStack Query), and every page says
 * so; they go on by themselves.
 */
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

const RETRIES = 2;
const FIRST_RETRY_MS = 500;

/** Whether waiting may mend it. */
function isPassing(error: unknown): boolean {
  return error instanceof Unreachable || (error instanceof ApiError && (error.status >= 500 || error.status === 429));
}

const retryDelay = (count: number) => Math.min(FIRST_RETRY_MS * 2 ** count, LONGEST_PAUSE_MS);

/**
 * For a mutation that saves what a person has typed or chosen, and whose request may be repeated: it waits while the service
 * does not respond, and is sent until it is answered.
 */
export const saving = {
  networkMode: 'online',
  retry: (_count: number, error: unknown) => isPassing(error),
  retryDelay,
} as const;

/** Fetched data stay fresh for a moment, so that moving between pages does not fetch twice. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // While the service does not respond, a query waits instead of failing.
      retry: (count, error) => isPassing(error) && (count < RETRIES || !onlineManager.isOnline()),
      retryDelay,
    },
    // An action fails at once: nobody expects it minutes later.
    mutations: { networkMode: 'always' },
  },
});

onUserChange(() => {
  // One that waits for its next try would be sent with the next user's token.
  const refuse = () => Promise.reject(new Error('The user has changed.'));
  for (const each of queryClient.getMutationCache().getAll()) each.setOptions({ ...each.options, mutationFn: refuse });
  queryClient.clear();
});
