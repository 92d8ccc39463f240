import type { Caller } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { seal, unseal } from '../../../platform/seal.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import type { TokenForm } from './form.rules.ts';
import { findSuccessorId } from './tokens.repo.ts';
import type { IssuedTokens } from './tokens.schema.ts';

export const OVERLAP_KEY_USE = 'behest/refresh-overlap/v1';

export interface OverlapDeps {
  readonly db: Executor;
  readonly store: EphemeralStore;
  readonly keyRing: KeyRing;
  /** How long an OAuth client gets the answer to a refresh again; 0 for never. */
  readonly refreshOverlapSeconds: number;
  readonly logger?: Logger;
}

/** The answer to a refresh, and what was asked for. */
interface Kept {
  readonly asked: string;
  readonly answer: IssuedTokens;
}

const CLOCKS_DIFFER = 5; // seconds

/**
 * Keeps the answer to a refresh for programs that share the refresh token and refresh at the same time. Call it before the
 * refresh is written: whoever then finds the token spent finds the answer too. The store has it sealed, under the id of the
 * new refresh token, because each of the racing requests has prepared an answer and one of them wins. Without the store the
 * refresh succeeds, and cannot be repeated.
 */
export async function keepAnswer(
  { store, keyRing, refreshOverlapSeconds, logger }: OverlapDeps,
  caller: Caller,
  successorId: string,
  { form, answer }: { readonly form: TokenForm; readonly answer: IssuedTokens },
): Promise<void> {
  if (refreshOverlapSeconds === 0) return;
  const kept: Kept = { asked: askedIn(form), answer };
  const sealed = seal(keyRing.derive(OVERLAP_KEY_USE), JSON.stringify(kept), boundTo(caller, successorId));
  const seconds = refreshOverlapSeconds + CLOCKS_DIFFER;
  await store
    .put([{ key: answerKey(successorId), value: sealed.toString('base64'), seconds }])
    .catch((err: unknown) => logger?.warn({ err }, 'the answer to a refresh cannot be repeated'));
}

/** Whether a refresh token that was spent then may still be answered again. */
export const isInOverlap = (
  { refreshOverlapSeconds }: OverlapDeps,
  spentAt: Date | null,
  at: Date,
): boolean => spentAt !== null && at.getTime() < spentAt.getTime() + refreshOverlapSeconds * 1000;

/**
 * The answer that the first use of a refresh token got.
 * @param form what is asked for now. For other scopes, resources or another key the answer would be the wrong one, and a
 *   second token of the same refresh would be a second line of descent.
 */
export async function findAnswer(
  { db, store, keyRing }: OverlapDeps,
  caller: Caller,
  refreshId: string,
  form: TokenForm,
): Promise<IssuedTokens | undefined> {
  const successorId = await findSuccessorId(db, caller.tenant, refreshId);
  const found = successorId && (await store.get(answerKey(successorId)));
  if (!found) return undefined;
  const sealed = Buffer.from(found, 'base64');
  const text = unseal(keyRing.derive(OVERLAP_KEY_USE), sealed, boundTo(caller, successorId));
  const kept: Kept | undefined = text === undefined ? undefined : JSON.parse(text);
  return kept?.asked === askedIn(form) ? kept.answer : undefined;
}

const answerKey = (successorId: string) => `bh:{refreshed:${successorId}}`;

const boundTo = ({ tenant }: Caller, successorId: string) =>
  Buffer.from(`${tenant.developerId}\n${successorId}`);

const askedIn = ({ scopes, audience, keyThumbprint }: TokenForm): string =>
  JSON.stringify([scopes ? [...scopes].sort() : null, audience ?? null, keyThumbprint ?? null]);
