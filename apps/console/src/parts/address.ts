/** How a member of the address is read. Anything else that stands there is left out. */
type Reader<Value> = (given: unknown) => Value | undefined;

export const text: Reader<string> = (given) =>
  typeof given === 'string' && given !== '' ? given.slice(0, 512) : undefined;

export const oneOf =
  <Word extends string>(...words: readonly Word[]): Reader<Word> =>
  (given) =>
    words.find((word) => word === given);

/** A whole number. The router reads digits in the address as a number. */
export const count: Reader<number> = (given) =>
  typeof given === 'number' && Number.isSafeInteger(given) ? given : undefined;

/** An instant, in the form that the API takes. */
export const time: Reader<string> = (given) =>
  typeof given === 'string' && !Number.isNaN(Date.parse(given)) ? new Date(given).toISOString() : undefined;

type Read<Readers> = {
  readonly [Name in keyof Readers]?: Readers[Name] extends Reader<infer Value> ? Value : never;
};

/**
 * What a page keeps in its address, so that a link shows the same view.
 * @returns the reader that a route takes as `validateSearch`
 */
export const address =
  <const Readers extends Readonly<Record<string, Reader<unknown>>>>(readers: Readers) =>
  (search: Readonly<Record<string, unknown>>): Read<Readers> =>
    // Each member has passed the reader of its name.
    Object.fromEntries(
      Object.entries(readers).flatMap(([name, read]) => {
        const value = read(search[name]);
        return value === undefined ? [] : [[name, value]];
      }),
    ) as Read<Readers>;
