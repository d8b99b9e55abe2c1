import { QueryClient } from '@tanstack/react-query';
import { isPassing } from './errors.ts';

const RETRIES = 2;

/** What was fetched stays fresh for a moment, so that moving between pages asks nothing twice. */
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
