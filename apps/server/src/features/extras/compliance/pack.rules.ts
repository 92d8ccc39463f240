import { createHash } from 'node:crypto';
import { canonicalJson } from '@behest/protocol/canonical-json';

/** A list of a pack while it is written: its canonical text, and the hash of its elements. */
export interface Section {
  readonly write: (elements: readonly object[]) => string;
  readonly hash: () => string;
}

export function beginSection(): Section {
  const hash = createHash('sha256');
  let isFirst = true;
  return {
    write(elements) {
      let text = '';
      for (const element of elements) {
        const canonical = canonicalJson(element);
        hash.update(canonical).update('\n');
        text += isFirst ? canonical : `,${canonical}`;
        isFirst = false;
      }
      return text;
    },
    hash: () => hash.digest('hex'),
  };
}

export const digestOf = (facts: object): string =>
  createHash('sha256').update(canonicalJson(facts)).digest('hex');
