import type { Declared, DeclaredActs } from '../../../platform/acts.ts';

/** The operator's own chain has these. In a developer's chain they would read as the service's word too. */
const reservedActs: Readonly<Record<string, Declared>> = {
  'developer.plan_changed': { isEvent: false, isEntry: true },
  'signing_key.rotated': { isEvent: false, isEntry: true },
};

/** The names of everything that the service records and announces, in this release or a later one. */
export interface Catalogue {
  /** Whether the service alone may use this name, for an entry or an event of this release or a later one. */
  isReserved(name: string): boolean;
  readonly reserved: readonly string[];
  /** Whether a subscriber may name this: a type, `*`, or an area such as `vault.*` or `vault.credential.*`. */
  isKnownPattern(pattern: string): boolean;
  /** Whether a subscription to `patterns` includes events of this type. */
  matches(patterns: Iterable<string>, type: string): boolean;
  /** The types that `patterns` stand for, for a query. */
  typesOf(patterns: readonly string[]): string[];
}

/**
 * @param declarations the declared acts of each feature
 * @throws Error when two features declare one name, or a declared name is still among the reserved ones
 */
export function catalogueOf(declarations: readonly DeclaredActs[]): Catalogue {
  const all = new Map(Object.entries(reservedActs));
  for (const [name, declared] of declarations.flatMap((each) => Object.entries(each))) {
    if (all.has(name)) throw new Error(`The act ${name} is declared twice.`);
    all.set(name, declared);
  }
  const eventTypes = [...all].filter(([, { isEvent }]) => isEvent).map(([name]) => name);
  const patterns = new Set(['*', ...eventTypes.flatMap((type) => [type, ...areasOf(type)])]);

  const matches = (subscribed: Iterable<string>, type: string) => {
    const matching = patternsOf(type);
    for (const pattern of subscribed) if (matching.includes(pattern)) return true;
    return false;
  };
  return {
    isReserved: (name) => all.has(name),
    reserved: [...all.keys()],
    isKnownPattern: (pattern) => patterns.has(pattern),
    matches,
    typesOf: (subscribed) => eventTypes.filter((type) => matches(subscribed, type)),
  };
}

/** The pattern `*` leaves these types out, because every payment and every call makes such an event. */
const onlyWhenNamed: ReadonlySet<string> = new Set(['budget.debited', 'vault.proxy.called']);

/** Events that concern every agent of the account, though they name none. Keys that are bound to agents get them too. */
export const aboutAllAgents: readonly string[] = ['account.stopped', 'account.resumed'];

/**
 * The patterns that match a type of event. Each recorded event carries them to the webhooks, so a release
 * that adds a type also decides which webhooks receive it.
 */
export const patternsOf = (type: string): string[] => [
  type,
  ...areasOf(type),
  ...(onlyWhenNamed.has(type) ? [] : ['*']),
];

/** The areas of a type, each as its pattern. */
function areasOf(type: string): string[] {
  const names = type.split('.').slice(0, -1);
  return names.map((_, at) => `${names.slice(0, at + 1).join('.')}.*`);
}
