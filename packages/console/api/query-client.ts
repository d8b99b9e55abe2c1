import { ApiError, Unreachable } from '@call-analysis/client/errors';
import { QueryClient } from '@tanstack/react-query';

const RETRIES = 2;

/** Whether waiting may mend it. */
function isPassing(error: unknown): boolean {
  return error instanceof Unreachable || (error instanceof ApiError && (error.status >= 500 || error.status === 429));
}

/** Fetched data stay fresh for a moment, so that moving between pages does not fetch twice. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => isPassing(error) && count < RETRIES,
      retryDelay: (count) => 500 * 2 ** count,
    },
    mutations: { networkMode: 'always' },
  },
});
