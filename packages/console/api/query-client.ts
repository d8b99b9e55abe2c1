import { ApiError, Unreachable } from '@call-analysis/client/errors';
import { onlineManager, QueryClient } from '@tanstack/react-query';

const RETRIES = 2;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;

/** Whether waiting may mend it. */
function isPassing(error: unknown): boolean {
  return error instanceof Unreachable || (error instanceof ApiError && (error.status >= 500 || error.status === 429));
}

const retryDelay = (count: number) => Math.min(FIRST_PAUSE_MS * 2 ** count, LONGEST_PAUSE_MS);

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
