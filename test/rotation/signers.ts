import { isLegacyKeyId } from '../../packages/protocol/src/key-id.ts';

/** A key of the algorithm that signs, as its row tells it. */
export interface PublishedKey {
  readonly kid: string;
  readonly publishedAt: Date;
}

/** A token, and the time in which it was signed: from the second of its `iat` to its arrival. */
export interface Signed {
  readonly kid: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Whether a token names the one key that may have signed it. A key signs from the end of its delay to the end of that of
 * the next; before the first, the legacy key signs.
 * @param keys in the order of their publication
 */
export function isOfItsTime(
  { kid, from, to }: Signed,
  keys: readonly PublishedKey[],
  delaySeconds: number,
): boolean {
  const starts = keys.map(({ publishedAt }) => publishedAt.getTime() + delaySeconds * 1000);
  if (isLegacyKeyId(kid)) return from < (starts[0] ?? Number.POSITIVE_INFINITY);
  const at = keys.findIndex((key) => key.kid === kid);
  const [start, end] = [starts[at] ?? Number.POSITIVE_INFINITY, starts[at + 1] ?? Number.POSITIVE_INFINITY];
  return start <= to && from < end;
}
