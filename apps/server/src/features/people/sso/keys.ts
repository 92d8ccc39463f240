import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import { isSameText, newSecret } from '../../../platform/ids.ts';
import type { SealingKeys } from '../../../platform/seal.ts';
import type { KeyRing } from '../../service/keys/index.ts';

export const STATE_KEY_USE = 'behest/sso-state/v1';

/** The keys of logins under way: from the operator's own secret, or else from the keys of the service. */
export function stateKeysOf({ derive }: Pick<KeyRing, 'derive'>, secret: string | undefined): SealingKeys {
  if (secret === undefined) return derive(STATE_KEY_USE);
  const current = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', STATE_KEY_USE, 32)));
  return { current, previous: [] };
}

const MAC_BYTES = 16;

/** A random text and a part of its HMAC, so that no look-up is made for a text that the service never sent. */
export function newState(keys: SealingKeys): string {
  const random = newSecret();
  return `${random}.${macOf(keys, random)}`;
}

export function isOwnState(keys: SealingKeys, state: string): boolean {
  const [random = '', mac = '', ...more] = state.split('.');
  return more.length === 0 && isSameText(mac, macOf(keys, random));
}

const macOf = ({ current }: SealingKeys, random: string): string =>
  createHmac('sha256', current).update(random).digest().subarray(0, MAC_BYTES).toString('base64url');
