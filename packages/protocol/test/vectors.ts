import { readFileSync } from 'node:fs';

/** One case of the shared vectors. Its other members depend on the kind. */
export interface VectorCase {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly [member: string]: unknown;
}

/** A file of shared vectors. Other implementations pass the same file. */
export interface Vectors {
  readonly format: string;
  readonly epoch_ms: number;
  readonly issuer: string;
  readonly manifests: Readonly<Record<string, unknown>>;
  readonly cases: readonly VectorCase[];
}

const formats = {
  enforcement: 'behest.enforcement-vectors/1',
  argument: 'behest.argument-vectors/1',
};

/** @throws Error when the file is of another format */
export function vectorsOf(name: keyof typeof formats): Vectors {
  const text = readFileSync(new URL(`../vectors/${name}-vectors.json`, import.meta.url), 'utf8');
  const vectors: Vectors = JSON.parse(text);
  if (vectors.format !== formats[name]) throw new Error(`The vectors have the format ${vectors.format}.`);
  return vectors;
}

/** A kind of case: the members that it may have, and its run, which throws when the case fails. */
export interface Kind {
  readonly members: readonly string[];
  readonly run: (vector: VectorCase, vectors: Vectors) => void | Promise<void>;
}

/** Runs one case. @throws Error for a kind or member that is not known: a case must not be skipped */
export async function runCase(kinds: Readonly<Record<string, Kind>>, vector: VectorCase, vectors: Vectors) {
  const kind = Object.hasOwn(kinds, vector.kind) ? kinds[vector.kind] : undefined;
  if (!kind) throw new Error(`The kind ${vector.kind} of ${vector.id} is not known.`);
  mustKnow(vector, ['id', 'title', 'kind', 'expect', ...kind.members]);
  await kind.run(vector, vectors);
}

/** @throws Error when the object has a member that is not in the list */
export function mustKnow(value: object, members: readonly string[]): void {
  const unknown = Object.keys(value).find((name) => !members.includes(name));
  if (unknown !== undefined) throw new Error(`The member ${unknown} is not known.`);
}
