import type { SigningAlg } from './keys.rules.ts';

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
export const endsAt = ({ retiredAt }: Pick<KeyLife, 'retiredAt'>, { graceSeconds }: KeySpans) =>
  retiredAt ? retiredAt.getTime() + graceSeconds * 1000 : Number.POSITIVE_INFINITY;

/** Whether tokens of the key verify. */
export const isLive = (key: Pick<KeyLife, 'state' | 'retiredAt'>, now: Date, spans: KeySpans): boolean =>
  key.state !== 'removed' && now.getTime() < endsAt(key, spans);

/** Whether the key may sign: it was published for the whole delay, and is not retired. */
export const maySign = (key: KeyLife, now: Date, spans: KeySpans): boolean =>
  (key.state === 'active' || key.state === 'pending') && now.getTime() >= signsFrom(key, spans);

/** The oldest first. The id decides between keys of one instant, so that every instance decides alike. */
export const byPublication = (a: KeyLife, b: KeyLife): number =>
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
