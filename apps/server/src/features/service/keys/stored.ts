import type { KeyObject } from 'node:crypto';
import type { KeySettings, KeyStoreSettings, SigningAlg, SigningKey } from './keys.rules.ts';
import {
  type KeySpans,
  type KeysInUse,
  keysOfStore,
  type StoredKey,
  type StoredUse,
} from './stored.rules.ts';

/** The keys of the database, as this process read them last. */
export interface StoredKeys {
  readonly at: (now: Date) => KeysInUse;
  /** Replaces what the process holds. */
  take(rows: readonly StoredKey[], readAt: Date): void;
  /** The private half that the process holds already. */
  privateKeyOf(kid: string): KeyObject | undefined;
  readonly spans: KeySpans;
  readonly rotationSeconds: number;
  readonly signsAs: SigningAlg;
  /** The keys of the settings, which begin the life of a store. */
  readonly configured: readonly SigningKey[];
  /** Keys of this process alone, for algorithms of which the database has none. */
  readonly generated: readonly SigningKey[];
}

interface OwnKeys extends KeyStoreSettings {
  readonly own: { readonly rsa: SigningKey; readonly ec: SigningKey | undefined };
}

/** Without a read for so long, the process cannot know which key to sign with. It still verifies. */
const LONGEST_UNREAD = 300_000; // milliseconds

/** Holds no key until the first `take`. */
export function createStoredKeys(settings: KeySettings, { own, ...store }: OwnKeys): StoredKeys {
  const spans = {
    delaySeconds: settings.activationDelaySeconds,
    graceSeconds: store.retiredGraceSeconds,
  };
  const use: StoredUse = {
    ...spans,
    signsAs: settings.signingAlg,
    others: settings.verificationKeys,
    legacyKey: settings.legacyKey ?? settings.rsa,
  };
  let held: { rows: readonly StoredKey[]; readAt: number } = { rows: [], readAt: Number.NEGATIVE_INFINITY };
  let made: { from: number; until: number; inUse: KeysInUse; mute: KeysInUse } | undefined;

  return {
    at(now) {
      const time = now.getTime();
      if (!made || time < made.from || time >= made.until) {
        const { inUse, until } = keysOfStore(held.rows, now, use);
        made = { from: time, until, inUse, mute: { ...inUse, signing: undefined, rsa: undefined } };
      }
      return time - held.readAt < LONGEST_UNREAD ? made.inUse : made.mute;
    },
    take(rows, readAt) {
      if (!isSame(rows, held.rows)) made = undefined;
      held = { rows, readAt: readAt.getTime() };
    },
    privateKeyOf: (kid) => held.rows.find((row) => row.kid === kid)?.privateKey,
    spans,
    rotationSeconds: store.rotationSeconds,
    signsAs: settings.signingAlg,
    configured: [settings.rsa, settings.ec].filter((key) => key !== undefined),
    generated: [settings.rsa ? undefined : own.rsa, settings.ec ? undefined : own.ec].filter(
      (key) => key !== undefined,
    ),
  };
}

const isSame = (some: readonly StoredKey[], others: readonly StoredKey[]) => textOf(some) === textOf(others);

const textOf = (rows: readonly StoredKey[]) =>
  JSON.stringify(
    rows
      .map(({ kid, state, publishedAt, retiredAt, privateKey }) => [
        kid,
        state,
        publishedAt,
        retiredAt,
        privateKey !== undefined,
      ])
      .sort(),
  );
