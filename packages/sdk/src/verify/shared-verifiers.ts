import type { Verifier, VerifyOptions } from '../verify.ts';

const MOST_VERIFIERS = 64;
const numbers = new WeakMap<object, number>();
let objects = 0;

/**
 * Finds the verifier of these very settings, or makes it. So a program may write its settings out at each call and have its
 * tokens remembered, and may change them and have that hold.
 */
export function sharedVerifiers(
  make: (options: VerifyOptions) => Verifier,
): (options: VerifyOptions) => Verifier {
  const verifiers = new Map<string, Verifier>();
  return (options) => {
    const name = nameOf(options);
    const verifier = verifiers.get(name) ?? make(withOwnLists(options));
    verifiers.delete(name); // to the end of the order of use
    verifiers.set(name, verifier);
    const [oldest] = verifiers.keys();
    if (verifiers.size > MOST_VERIFIERS && oldest !== undefined) verifiers.delete(oldest);
    return verifier;
  };
}

/** A function, a cache or a check of revocations is itself and no other, whatever is in it. */
function nameOf(options: VerifyOptions): string {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const parts = given.map(([member, value]): [string, unknown] => {
    if (typeof value === 'number') return [member, String(value)]; // JSON has no NaN
    const isList = Array.isArray(value);
    return [member, Object(value) === value && !isList ? numberOf(value) : value];
  });
  return JSON.stringify(parts.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Lists of its own, because the program may change those that it handed over. */
const withOwnLists = ({ developerId, requiredScopes, ...options }: VerifyOptions): VerifyOptions => ({
  ...options,
  developerId: Array.isArray(developerId) ? [...developerId] : developerId,
  ...(requiredScopes && { requiredScopes: [...requiredScopes] }),
});

function numberOf(value: object): number {
  const number = numbers.get(value) ?? ++objects;
  numbers.set(value, number);
  return number;
}
