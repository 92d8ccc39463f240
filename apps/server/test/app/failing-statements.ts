import type { Executor } from '../../src/platform/db/db.ts';

/** The database went away, as the driver says it. */
export const gone = () => Object.assign(new Error('planted'), { code: '57P01' });

/**
 * Lets statements fail one after the other: the first try fails after its first statement, the second after its second,
 * until a try meets no failure. Each statement has taken effect in its transaction when it fails.
 * @param failure makes the error of a statement that fails
 */
export function failingStatements(failure: () => Error = () => new Error('planted')) {
  let left = Number.POSITIVE_INFINITY;
  const dbAs = (db: Executor) =>
    db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        left -= 1;
        if (left === 0) throw failure();
        return result;
      },
    });

  /**
   * @param act the tried act
   * @param afterFailure looks at the answer to a failed try, and at the state then
   * @returns the answer that met no failure, and how many tries failed
   */
  async function failEach<Answer>(
    act: () => Promise<Answer>,
    afterFailure: (answer: Answer, statement: number) => Promise<void>,
  ) {
    for (let statement = 1; ; statement += 1) {
      left = statement;
      const answer = await act();
      const hasFailed = left <= 0;
      left = Number.POSITIVE_INFINITY;
      if (!hasFailed) return { answer, failures: statement - 1 };
      await afterFailure(answer, statement);
    }
  }

  return { dbAs, failEach };
}
