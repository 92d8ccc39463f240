import { setTimeout as sleep } from 'node:timers/promises';

const [FIRST_PAUSE, LONGEST_PAUSE] = [500, 10_000]; // milliseconds

interface Repeats {
  /** The most attempts after the first. */
  readonly retries: number;
  /** True where the service notices a request that it gets twice, or where twice is as good as once. */
  readonly isSafe: boolean;
  readonly signal: AbortSignal;
}

/** Sends a request, and sends it again where nothing can happen twice. @throws the error of the last attempt */
export async function repeated(
  send: () => Promise<Response>,
  { retries, isSafe, signal }: Repeats,
): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt > retries;
    const answer = await send().catch((error: unknown) => {
      if (isLast || !isSafe || signal.aborted) throw error;
      return undefined;
    });
    if (answer && (isLast || !isWorthRepeating(answer.status, isSafe))) return answer;
    await answer?.body?.cancel();
    await sleep(pauseBefore(attempt, answer), undefined, { signal });
  }
}

/** After 429 the service has done nothing. */
const isWorthRepeating = (status: number, isSafe: boolean) =>
  status === 429 || (isSafe && [502, 503, 504].includes(status));

function pauseBefore(attempt: number, answer: Response | undefined): number {
  const asked = Number(answer?.headers.get('retry-after') ?? Number.NaN); // seconds
  const own = Math.random() * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempt - 1));
  return asked >= 0 ? Math.min(asked * 1_000, LONGEST_PAUSE) : own;
}
