import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError, isSignedOut } from './api/errors.ts';
import { SESSION } from './session/session.ts';

/** What may be better in a moment: no answer, or one that says that the service is away. */
const isPassing = (error: unknown) =>
  error instanceof ApiError && (error.status === 0 || error.status === 503);

/**
 * A session that has ended anywhere has ended everywhere. A new document, which shows the sign-in page, holds nothing of
 * the account for whoever signs in next.
 */
export const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => {
      if (isSignedOut(error) && queryKey[0] !== SESSION[0]) location.reload();
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (times, error) => times < 2 && isPassing(error),
    },
  },
});

export const DAYS = 30;

/** The numbers of today and the chart come from one call, because equal parameters are one query. */
export const HISTORY = { params: { query: { days: String(DAYS) } } } as const;
