import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { features } from '../../src/features.ts';
import type { Developer } from './start-app.ts';

/** Ids and secrets of one record of each kind, by the names that answers and requests give them. */
export type Possessions = Readonly<Record<string, string>>;

interface Way {
  /** The possession whose id is the route's `:id`. */
  readonly id?: string;
  /** A good body that names the developer's records. */
  readonly body?: (its: Possessions) => Readonly<Record<string, unknown>>;
}

/** What a feature's `<noun>.samples.ts` gives to the tests that walk all routes. */
export interface Samples {
  /** Makes a record of each kind. @param its the possessions that features before this one have made */
  readonly possess?: (developer: Developer, its: Possessions) => Promise<Possessions>;
  /** As many records that nobody has. */
  readonly nobodys?: Possessions;
  /** Every way by which a developer can ask about a record, or act on it. */
  readonly ways?: Readonly<Record<string, Way>>;
  /** Good bodies that name no record. */
  readonly bodies?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The routes that refuse a `runtime` key. */
  readonly needFullKey?: readonly string[];
  /** Where the developer sees these records. */
  readonly shownAt?: (its: Possessions) => readonly string[];
}

const files = globSync(join(import.meta.dirname, '../../src/features/*/*/*.samples.ts'));
const nounOf = (file: string) => basename(file, '.samples.ts');
const order = features.map(({ name }) => name);

/** The samples of every feature that has some, in the order of the features. */
export const allSamples: readonly Samples[] = await Promise.all(
  files
    .toSorted((one, other) => order.indexOf(nounOf(one)) - order.indexOf(nounOf(other)))
    .map(async (file) => (await import(file)).samples),
);
