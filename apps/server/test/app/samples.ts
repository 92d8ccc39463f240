import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { features } from '../../src/features.ts';
import type { Developer } from './start-app.ts';

/** Ids and secrets of one record of each kind, by their names in answers and requests. */
export type Possessions = Readonly<Record<string, string>>;

interface Way {
  /** The possession whose id is the route's `:id`. */
  readonly id?: string;
  /** A good body that names the developer's records. */
  readonly body?: (its: Possessions) => Readonly<Record<string, unknown>>;
}

/** Samples of a feature, from its `<noun>.samples.ts`, for the tests that walk all routes. */
export interface Samples {
  /** Makes a record of each kind. @param its the possessions that earlier features have made */
  readonly possess?: (developer: Developer, its: Possessions) => Promise<Possessions>;
  /** The same members, for records that do not exist. */
  readonly nobodys?: Possessions;
  /** Every way in which a developer can read a record or act on it. */
  readonly ways?: Readonly<Record<string, Way>>;
  /** Good bodies that name no record. */
  readonly bodies?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The routes that refuse a `runtime` key. */
  readonly needFullKey?: readonly string[];
  /** The routes that ask a party outside, which the tests of their feature stand in for. */
  readonly askOutside?: readonly string[];
  /** The routes that show these records to the developer. */
  readonly shownAt?: (its: Possessions) => readonly string[];
}

const files = globSync(join(import.meta.dirname, '../../src/features/*/*/*.samples.ts'));
const nounOf = (file: string) => basename(file, '.samples.ts');
const order = features.map(({ name }) => name);

/** The samples of all features, in the order of the features. */
export const allSamples: readonly Samples[] = await Promise.all(
  files
    .toSorted((one, other) => order.indexOf(nounOf(one)) - order.indexOf(nounOf(other)))
    .map(async (file) => (await import(file)).samples),
);
