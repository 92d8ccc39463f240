import { randomBytes } from 'node:crypto';

type Mode = 'live' | 'sandbox';
type Status = 'active' | 'expiring' | 'expired' | 'revoked';

export const MAX_KEYS = 20;

/** The part of a key that lists show: enough to tell two keys apart, too little to guess the rest. */
export const prefixOf = (apiKey: string): string => apiKey.slice(0, 12);

export const generateKey = (mode: Mode): string =>
  `bh_${mode === 'live' ? 'live' : 'test'}_${randomBytes(32).toString('base64url')}`;

interface DescribableKey {
  readonly id: string;
  readonly name: string;
  readonly role: 'runtime' | 'full';
  readonly agentIds: readonly string[] | null;
}

/** A key as its acts describe it. */
export const describeKey = ({ id: keyId, name, role, agentIds }: DescribableKey) => ({
  keyId,
  name,
  role,
  ...(agentIds && { agentIds }),
});

interface KeyTimes {
  readonly expiresAt: Date | null;
  readonly replacedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** `expiring`: replaced by a rotation, and valid until the overlap ends. */
export function keyStatus({ expiresAt, replacedAt, revokedAt }: KeyTimes, now: Date): Status {
  if (revokedAt) return 'revoked';
  if (expiresAt && expiresAt <= now) return 'expired';
  return replacedAt ? 'expiring' : 'active';
}
