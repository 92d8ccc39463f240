import { readMultikey } from '../features/service/keys/index.ts';
import { commaList } from './readers.ts';

/** Public Ed25519 keys in the form of DID documents. @see https://www.w3.org/TR/cid-1.0/#Multikey */
export const multikeys = commaList('a comma list of Ed25519 Multikeys (z6Mk…)', (entry) =>
  readMultikey(entry)?.kind === 'Ed25519' ? entry : undefined,
);
