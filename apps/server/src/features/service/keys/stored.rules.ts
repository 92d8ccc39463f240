import type { KeyObject } from 'node:crypto';
import { isThumbprintKeyId } from '@behest/protocol/key-id';
import type { KeySet } from '@behest/protocol/key-set';
import {
  keySet,
  type SigningAlg,
  type SigningKey,
  type VerificationKey,
  type VerifierKey,
} from './keys.rules.ts';
import type { PublishedJwk } from './keys.schema.ts';

export type KeyState = 'pending' | 'active' | 'retired' | 'removed';

/** The life of a key in the database, as its row tells it. */
export interface KeyLife {
  readonly kid: string;
  readonly alg: SigningAlg;
  readonly state: KeyState;
  readonly publishedAt: Date;
  readonly retiredAt: Date | null;
}

export interface KeySpans {
  readonly delaySeconds: number;
  readonly graceSeconds: number;
}

/** A change of a key's state. */
export interface KeyTurn {
  readonly kid: string;
  readonly alg: SigningAlg;
  readonly from: KeyState | null;
  readonly to: KeyState;
}

/** The time from which a published key may sign, in epoch milliseconds. */
export const signsFrom = ({ publishedAt }: Pick<KeyLife, 'publishedAt'>, { delaySeconds }: KeySpans) =>
  publishedAt.getTime() + delaySeconds * 1000;

/** The time from which tokens of a retired key are refused. */
const endsAt = ({ retiredAt }: Pick<KeyLife, 'retiredAt'>, { graceSeconds }: KeySpans) =>
  retiredAt ? retiredAt.getTime() + graceSeconds * 1000 : Number.POSITIVE_INFINITY;

/** Whether tokens of the key verify. */
const isLive = (key: Pick<KeyLife, 'state' | 'retiredAt'>, now: Date, spans: KeySpans): boolean =>
  key.state !== 'removed' && now.getTime() < endsAt(key, spans);

/** Whether the key may sign: it was published for the whole delay, and is not retired. */
const maySign = (key: KeyLife, now: Date, spans: KeySpans): boolean =>
  (key.state === 'active' || key.state === 'pending') && now.getTime() >= signsFrom(key, spans);

/** The oldest first. The id decides between keys of one instant, so that every instance decides alike. */
const byPublication = (a: KeyLife, b: KeyLife): number =>
  a.publishedAt.getTime() - b.publishedAt.getTime() || (a.kid < b.kid ? -1 : 1);

/**
 * The changes that are due: the newest key that may sign becomes active, and those before it retire. Retirements come
 * first, because an algorithm has one active key.
 */
export function dueTurns(keys: readonly KeyLife[], now: Date, spans: KeySpans): KeyTurn[] {
  const turn = ({ kid, alg, state }: KeyLife, to: KeyState): KeyTurn => ({ kid, alg, from: state, to });
  const ended = keys.filter((key) => key.state === 'retired' && !isLive(key, now, spans));
  const replaced = [...Map.groupBy(keys, ({ alg }) => alg).values()].flatMap((ofAlg) => {
    const due = ofAlg
      .filter((key) => key.state === 'pending' && maySign(key, now, spans))
      .sort(byPublication);
    const next = due.pop();
    if (!next) return [];
    const former = [...ofAlg.filter(({ state }) => state === 'active'), ...due];
    return [...former.map((key) => turn(key, 'retired')), turn(next, 'active')];
  });
  return [...ended.map((key) => turn(key, 'removed')), ...replaced];
}

/** Whether the schedule wants another key of an algorithm. */
export function isRotationDue(
  keys: readonly KeyLife[],
  alg: SigningAlg,
  rotationSeconds: number,
  now: Date,
): boolean {
  const newest = keys
    .filter((key) => key.alg === alg && (key.state === 'active' || key.state === 'pending'))
    .sort(byPublication)
    .at(-1);
  return (
    rotationSeconds > 0 &&
    newest !== undefined &&
    now.getTime() >= newest.publishedAt.getTime() + rotationSeconds * 1000
  );
}

/** A key of the database, as this process holds it. */
export interface StoredKey extends KeyLife {
  readonly key: VerificationKey;
  /** Undefined once the key is retired, or when no vault key of the process opens it. */
  readonly privateKey: KeyObject | undefined;
}

export interface StoredUse extends KeySpans {
  readonly signsAs: SigningAlg;
  /** Further keys of the settings, which verify and never sign. */
  readonly others: readonly VerificationKey[];
  /** Undefined means the oldest RSA key of the database. */
  readonly legacyKey: VerificationKey | undefined;
}

/**
 * The keys at one time, and the time until which they stay the same. Every instance that has read the same rows gets the
 * same answer, so the turn from one key to the next needs no message.
 */
export function keysOfStore(rows: readonly StoredKey[], now: Date, use: StoredUse) {
  const live = rows.filter((row) => isLive(row, now, use)).sort(byPublication);
  const legacyKey = legacyOf(live, use);
  const signing = signingOf(live, now, legacyKey, use);
  const first = live.filter(({ kid }) => kid === signing?.row.kid);
  const rest = (['active', 'pending', 'retired'] as const).flatMap((state) =>
    live.filter((row) => row.state === state && row.kid !== signing?.row.kid),
  );
  const own = [...first, ...rest].map(({ key }) => key);
  const isOwn = (other: VerificationKey) => own.some(({ jwk }) => jwk.kid === other.jwk.kid);
  const published = [...own, ...use.others.filter((other) => !isOwn(other))];
  const inUse = {
    signing: useOf(signing),
    rsa: useOf(signingOf(live, now, legacyKey, { ...use, signsAs: 'RS256' })),
  };
  return {
    inUse: keysInUse(inUse, published, legacyKey) satisfies KeysInUse,
    until: nextChange(live, now, use),
  };
}

function useOf(signing: ReturnType<typeof signingOf>): SigningUse | undefined {
  const { privateKey, key } = { ...signing?.row };
  return signing && key && privateKey
    ? { key: { ...key, privateKey }, isLegacy: signing.isLegacy }
    : undefined;
}

/** A removed key verifies nothing, under no name. */
function legacyOf(live: readonly StoredKey[], { legacyKey, others }: StoredUse): VerificationKey | undefined {
  if (!legacyKey) return live.find(({ alg }) => alg === 'RS256')?.key;
  const known = [...live.map(({ key }) => key), ...others];
  return known.find(({ thumbprint }) => thumbprint === legacyKey.thumbprint);
}

/**
 * The newest key of the algorithm that has been published for the delay, else an RSA key that has. Before that, only an
 * active RSA key is there, which was the first of an empty store: it signs as keys of the settings do after a start.
 */
function signingOf(
  live: readonly StoredKey[],
  now: Date,
  legacyKey: VerificationKey | undefined,
  use: StoredUse,
) {
  const ready = live.filter((row) => maySign(row, now, use));
  const settled =
    ready.findLast(({ alg }) => alg === use.signsAs) ?? ready.findLast(({ alg }) => alg === 'RS256');
  if (settled) return { row: settled, isLegacy: false };
  const first = live.find(({ state, alg }) => state === 'active' && alg === 'RS256');
  return first && { row: first, isLegacy: first.key.thumbprint === legacyKey?.thumbprint };
}

function nextChange(live: readonly StoredKey[], now: Date, use: StoredUse): number {
  const times = live.flatMap((row) => [row.state === 'retired' ? endsAt(row, use) : signsFrom(row, use)]);
  return Math.min(...times.filter((time) => time > now.getTime()));
}

/** The key that signs, and its name in tokens. */
export interface SigningUse {
  readonly key: SigningKey;
  /** Whether tokens name it by the month, as those before 0.6 did. */
  readonly isLegacy: boolean;
}

/** The keys at one time. It stays the same object for as long as nothing changes. */
export interface KeysInUse {
  /** Undefined when no key may sign. */
  readonly signing: SigningUse | undefined;
  /** The key that signs as RS256. Undefined when no RSA key may sign. */
  readonly rsa: SigningUse | undefined;
  /** The published keys in their order. */
  readonly published: readonly VerificationKey[];
  readonly legacyKey: VerificationKey | undefined;
  readonly keys: KeySet<VerifierKey>;
  /** The published keys under their thumbprints. */
  readonly named: readonly PublishedJwk[];
}

function keysInUse(
  { signing, rsa }: Pick<KeysInUse, 'signing' | 'rsa'>,
  published: readonly VerificationKey[],
  legacyKey: VerificationKey | undefined,
): KeysInUse {
  const named = published.map(({ jwk }) => jwk).filter(({ kid }) => isThumbprintKeyId(kid));
  return { signing, rsa, published, legacyKey, keys: keySet(published, legacyKey), named };
}

interface ConfiguredKeys {
  readonly rsa: SigningKey;
  readonly ec: SigningKey | undefined;
  readonly others: readonly VerificationKey[];
  readonly legacyKey: VerificationKey;
  readonly signsAs: VerificationKey['jwk']['alg'];
  /** Until then the legacy key signs. */
  readonly activeAt: number;
}

/** The keys of the settings, in their two states: before the activation delay is over, and after. */
export function configuredKeys(configured: ConfiguredKeys): (now: Date) => KeysInUse {
  const { rsa, ec, others, legacyKey, signsAs, activeAt } = configured;
  const published = [rsa, ...(ec ? [ec] : []), ...others];
  const isLegacy = legacyKey.thumbprint === rsa.thumbprint;
  const settledKey = signsAs === 'ES256' && ec ? ec : rsa;
  const settled = keysInUse(
    { signing: { key: settledKey, isLegacy: false }, rsa: { key: rsa, isLegacy: false } },
    published,
    legacyKey,
  );
  const first = { key: rsa, isLegacy };
  const waiting = { ...settled, signing: first, rsa: first };
  return (now) => (now.getTime() >= activeAt ? settled : waiting);
}
