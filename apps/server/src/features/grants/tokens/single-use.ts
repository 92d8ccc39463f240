import { hashOf } from '../../../platform/ids.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';

/**
 * Whether this text of this owner is seen for the first time, over all processes. The first of two simultaneous
 * uses wins.
 * @throws SERVICE_UNAVAILABLE when the store does not answer: a replay must not pass meanwhile
 */
export async function isFirstUse(
  store: EphemeralStore,
  owner: string,
  text: string,
  seconds: number,
): Promise<boolean> {
  const key = `bh:{once:${hashOf(`${owner}\n${text}`).toString('base64url')}}`;
  const settled = await store.charge([{ name: 'use', charges: [{ key, limit: 1, cost: 1, seconds }] }]);
  return settled.get('use')?.outcome === 'charged';
}
