import { timingSafeEqual } from 'node:crypto';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { hashOf, newSecret } from '../../../platform/ids.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  deleteToken,
  findReceiverAcrossTenants,
  findTokenAcrossTenants,
  insertIssuedToken,
  type ProvedClient,
  type ReceiverClient,
} from './receivers.repo.ts';

export interface ReceiverTokenDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

export const SCOPES = ['ssf.read', 'ssf.manage'] as const;
export type SsfScope = (typeof SCOPES)[number];
const isScope = (text: string): text is SsfScope => SCOPES.some((scope) => scope === text);

const LASTS_SECONDS = 3600; // CAEP interoperability profile: at most an hour
const NOBODY = Buffer.alloc(32);

/** Whether a client id is one of a receiver. */
export const isReceiverId = (clientId: string): boolean => clientId.startsWith('ssfr_');

/** @returns undefined for an unknown receiver or a wrong secret alike */
export async function provedReceiver(
  deps: ReceiverTokenDeps,
  clientId: string,
  secret: string,
): Promise<ProvedClient | undefined> {
  return receiverOf(deps, clientId, hashOf(secret));
}

async function receiverOf(
  { db, clock }: ReceiverTokenDeps,
  clientId: string,
  hash: Buffer,
): Promise<ProvedClient | undefined> {
  const found = await findReceiverAcrossTenants(db, clientId);
  const { previousSecretHash: previous, previousSecretExpiresAt: until } = { ...found };
  const isCurrent = timingSafeEqual(found?.secretHash ?? NOBODY, hash);
  const isPrevious = timingSafeEqual(previous ?? NOBODY, hash);
  const isFormer = isPrevious && until && until > clock();
  if (!found || (!isCurrent && !isFormer)) return undefined;
  return { ...found, shownHash: hash, shownUntil: isCurrent ? null : (until ?? null) };
}

/**
 * Issues an access token to a receiver (RFC 6749 §4.4). A receiver of a closed account may read what is left for it, and
 * change nothing.
 * @param scope both scopes when it is absent
 * @throws invalid_scope, invalid_client when the secret was rotated, or the receiver deleted, since it was shown
 */
export async function issueReceiverToken(
  deps: ReceiverTokenDeps,
  receiver: ProvedClient,
  scope: string | undefined,
) {
  const asked = scope === undefined ? [...SCOPES] : [...new Set(scope.split(' ').filter(Boolean))];
  const scopes = asked.filter(isScope);
  if (scopes.length === 0 || scopes.length < asked.length) {
    throw oauthRefusal('invalid_scope', 'The scopes of a receiver are `ssf.read` and `ssf.manage`.');
  }
  const token = newSecret();
  const at = deps.clock();
  const end = Math.min(at.getTime() + LASTS_SECONDS * 1000, receiver.shownUntil?.getTime() ?? Infinity);
  const wanted = { hash: hashOf(token), scopes, expiresAt: new Date(end) };
  if (!(await insertIssuedToken(deps.db, receiver, wanted, at))) {
    const now = await receiverOf(deps, receiver.id, receiver.shownHash);
    if (!now) throw unknownReceiver();
    return issueReceiverToken(deps, now, scope);
  }
  const seconds = Math.ceil((end - at.getTime()) / 1000);
  return { access_token: token, token_type: 'Bearer' as const, expires_in: seconds, scope: scopes.join(' ') };
}

/** The same for an unknown receiver, a wrong secret and a secret that has ended. */
export const unknownReceiver = () =>
  oauthRefusal('invalid_client', 'The client is not known, or is not authenticated.');

/**
 * Ends an access token of this receiver (RFC 7009 §2), and no other's. The end of a token that the developer handed out is
 * recorded, because nothing else tells the developer of it.
 */
export function revokeReceiverToken(
  { db, clock }: ReceiverTokenDeps,
  caller: Caller,
  receiverId: string,
  token: string,
): Promise<void> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    const ended = await deleteToken(tx, caller.tenant, { receiverId, hash: hashOf(token) }, at);
    if (!ended?.isStatic) return;
    const data = { receiverId, changed: ['accessToken'] };
    await recordActs(tx, caller, [{ type: 'ssf.receiver.updated', data }], at);
  });
}

/** @returns the caller that an access token of a receiver stands for, or undefined for an unknown or expired one */
export async function findSsfCaller({ db, clock }: ReceiverTokenDeps, hash: Buffer) {
  const found = await findTokenAcrossTenants(db, hash, clock());
  const isSame = timingSafeEqual(found?.hash ?? NOBODY, hash);
  if (!found || !isSame) return undefined;
  const client = await findReceiverAcrossTenants(db, found.receiverId);
  if (!client) return undefined;
  const scopes = client.closedAt ? found.scopes.filter((scope) => scope === 'ssf.read') : found.scopes;
  return { ...callerOfReceiver(client), receiverId: client.id, scopes };
}

/** The receiver as caller, without a request. */
export const callerOfReceiver = ({ developerId, id, mode, plan }: ReceiverClient) =>
  ({
    tenant: { developerId },
    agentIds: null,
    actor: `receiver:${id}`,
    role: 'runtime',
    mode,
    plan,
  }) satisfies Omit<Caller, 'requestId'>;
