import { type GenerateKeyPairResult, generateKeyPair } from 'jose';

const kept: Promise<GenerateKeyPairResult>[] = [];
const MAX_KEPT = 6;
let turn = 0;

/**
 * A pair of RSA keys. Making one takes longer than most tests, so the tests of a worker share a few. Six that are asked
 * for one after the other differ.
 */
export function rsaKeys(): Promise<GenerateKeyPairResult> {
  const place = turn % MAX_KEPT;
  turn += 1;
  kept[place] ??= generateKeyPair('RS256', { extractable: true });
  return kept[place];
}
