import { notFound } from '../../../platform/errors.ts';
import { hashOf, newId, newSecret } from '../../../platform/ids.ts';
import { LINK_SECONDS, RECOVERY_SECONDS } from './members.rules.ts';
import type { ConsoleLink, SignInByKey } from './members.schema.ts';
import type { MemberDeps } from './session.ts';

/** The person who signs in, as far as who made the link named them. */
export type NamedPerson = Partial<SignInByKey>;

/** A link as the store keeps it, under the hash of its secret. */
interface KeptLink extends NamedPerson {
  readonly developerId: string;
  /** The key that made it. Absent where the operator did. */
  readonly keyId?: string;
  /** In ISO 8601. The store may keep it for longer. */
  readonly expiresAt: string;
}

type LinkDeps = Pick<MemberDeps, 'store' | 'clock' | 'publicBaseUrl'>;

const SLOT_SECONDS = Math.max(LINK_SECONDS, RECOVERY_SECONDS); // a slot outlives its link
const linkKey = (secret: string) => `console-link:${hashOf(secret).toString('base64url')}`;

/** Makes a link that opens the console once. */
export async function keepLink(
  { store, clock, publicBaseUrl }: LinkDeps,
  of: Omit<KeptLink, 'expiresAt'>,
  seconds: number,
): Promise<ConsoleLink> {
  const secret = newSecret();
  const expiresAt = new Date(clock().getTime() + seconds * 1000).toISOString();
  const kept: KeptLink = { ...of, expiresAt };
  await store.put([{ key: linkKey(secret), value: JSON.stringify(kept), seconds }]);
  return { url: `${publicBaseUrl}/console#link=${secret}`, expiresAt };
}

/** Takes a link, which nobody can take again. @throws NOT_FOUND */
export async function takeLink({ store, clock }: LinkDeps, secret: string): Promise<KeptLink> {
  const key = linkKey(secret);
  const text = await store.get(key);
  if (text === undefined) throw notFound();
  // Two browsers with one link find one slot.
  const slot = { key: `${key}:taken`, owner: newId('cons', clock()), most: 1, seconds: SLOT_SECONDS };
  if (!(await store.takeSlot(slot))) throw notFound();
  await store.remove(key);
  const kept: KeptLink = JSON.parse(text);
  if (new Date(kept.expiresAt) <= clock()) throw notFound();
  return kept;
}
