/** The settings that are lists. */
interface Lists {
  readonly developerId: string | readonly string[];
  readonly requiredScopes?: readonly string[];
}

const MAX_VERIFIERS = 64;
const numbers = new WeakMap<object, number>();
let objects = 0;

/**
 * Finds the verifier of these very settings, or makes it. So a program may write its settings out at each call and have its
 * tokens remembered, and may change them and have that hold.
 */
export function sharedVerifiers<Options extends Lists, Verifier>(
  make: (options: Options) => Verifier,
): (options: Options) => Verifier {
  const verifiers = new Map<string, Verifier>();
  return (options) => {
    const name = nameOf(options);
    const verifier = verifiers.get(name) ?? make(withOwnLists(options));
    verifiers.delete(name); // to the end of the order of use
    verifiers.set(name, verifier);
    const [oldest] = verifiers.keys();
    if (verifiers.size > MAX_VERIFIERS && oldest !== undefined) verifiers.delete(oldest);
    return verifier;
  };
}

/** A function, a cache or a check of revocations is itself and no other, whatever is in it. */
function nameOf(options: object): string {
  const given: [string, unknown][] = Object.entries(options).filter(([, value]) => value !== undefined);
  const parts = given.map(([member, value]): [string, unknown] => {
    if (typeof value === 'number') return [member, String(value)]; // JSON has no NaN
    return [member, isNameless(value) ? numberOf(value) : value];
  });
  return JSON.stringify(parts.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Lists of its own, because the program may change those that it handed over. */
const withOwnLists = <Options extends Lists>(options: Options): Options => ({
  ...options,
  developerId: Array.isArray(options.developerId) ? [...options.developerId] : options.developerId,
  ...(options.requiredScopes && { requiredScopes: [...options.requiredScopes] }),
});

const isNameless = (value: unknown): value is object => Object(value) === value && !Array.isArray(value);

function numberOf(value: object): number {
  const number = numbers.get(value) ?? ++objects;
  numbers.set(value, number);
  return number;
}
