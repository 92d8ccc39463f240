import { boolean, notInProduction } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { type Caller, systemCaller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { acceptUrl, type UrlRules } from '../../../platform/egress/urls.ts';
import { badField, notFound } from '../../../platform/errors.ts';
import { hook } from '../../../platform/hooks.ts';
import { newId } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { definePart } from '../../../platform/parts.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { findCallerParts } from '../../accounts/developers/developers.queries.ts';
import type { OnAccountClosed } from '../../accounts/developers/index.ts';
import { freeQuota, useQuota } from '../../accounts/quotas/index.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { recordActs } from '../audit/index.ts';
import { type Catalogue, patternsOf } from '../events/index.ts';
import { failPending } from './deliveries.repo.ts';
import type { WebhookSeals } from './secrets.ts';
import {
  deleteEndpoint,
  type EndpointRow,
  findEndpoint,
  insertEndpoint,
  keepForLast,
  listEndpointRows,
  lockEndpoint,
  updateEndpoint,
} from './webhooks.repo.ts';
import { newWebhookSecret } from './webhooks.rules.ts';
import type {
  CreatedWebhook,
  NewWebhook,
  RotatedWebhookSecret,
  Webhook,
  WebhookChange,
  WebhookPage,
  WebhookQuery,
  WebhookSecretRotation,
} from './webhooks.schema.ts';

/** Where a developer may have messages of the service sent to. */
export const messageUrlRules = definePart<UrlRules>('the rules for addresses of messages');

/** Holds for every address that a developer names for messages of the service. */
export const privateHosts = {
  WEBHOOK_ALLOW_PRIVATE_HOSTS: defaulted(
    notInProduction(boolean, (value) => value, 'WEBHOOK_ALLOW_PRIVATE_HOSTS must not be true in production'),
    'false',
    'Whether webhooks and channels of anomalies may reach this machine and private networks. The service refuses it in production.',
  ),
};

/** An event on its way to a stream of signals. */
export interface EventForSet {
  readonly developerId: string;
  /** The stream. */
  readonly webhookId: string;
  readonly id: string;
  readonly eventType: string;
  readonly envelope: string;
  readonly actor: string | null;
  readonly txn: string | null;
}

export interface SetDeps {
  readonly db: Executor;
  readonly keyRing: KeyRing;
  readonly issuer: string;
}

/**
 * Makes the signal of an event: a signed security event token (RFC 8417), the same at each attempt.
 * @throws SERVICE_UNAVAILABLE when no RSA key may sign
 */
export type MakeSet = (deps: SetDeps, event: EventForSet) => Promise<string>;

/** @param endpoint its `webhookId` is the stream's */
export type OnEndpointGone = (
  deps: Pick<SetDeps, 'db'> & { readonly seals: WebhookSeals },
  endpoint: Pick<EventForSet, 'developerId' | 'webhookId'> & { readonly url: string },
  at: Date,
) => Promise<void>;

/** The receiver of a stream says that its address is gone. One feature listens. */
export const streamGone = hook<OnEndpointGone>('stream gone');

/** An event is sent as a signal. One feature listens. */
export const setMade = hook<MakeSet>('set made');

export interface WebhookDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly quotas: Quotas;
  readonly catalogue: Catalogue;
  readonly urlRules: UrlRules;
  readonly maxAttempts: number;
  readonly seals: WebhookSeals;
}

/** Neither looks up nor calls the URL's host. @throws BAD_REQUEST, PLAN_LIMIT_EXCEEDED */
export function registerWebhook(
  deps: WebhookDeps,
  caller: Caller,
  { url, events, format, description }: NewWebhook,
): Promise<CreatedWebhook> {
  mustBeCallable(deps, url);
  const patterns = knownPatterns(deps.catalogue, events);
  const at = deps.clock();
  const id = newId('wh', at);
  const secret = newWebhookSecret();
  const owner = { developerId: caller.tenant.developerId, webhookId: id };
  const sealed = { secret: deps.seals.seal(secret, owner), sealKeyId: deps.seals.keyId };
  const { maxAttempts } = deps;
  const endpoint = { id, url, events: patterns, format, description, status: 'active', maxAttempts } as const;

  return inTransaction(deps.db, async (tx) => {
    await useQuota(tx, deps.quotas, caller, 'webhooks', at);
    const times = { createdAt: at, updatedAt: at };
    const row = await insertEndpoint(tx, caller.tenant, { ...endpoint, ...sealed, ...times });
    const data = { webhookId: id, events: patterns };
    await recordActs(tx, caller, [{ type: 'webhook.created', data }], at);
    return { ...toWebhook(row, at), secret };
  });
}

/** @throws BAD_REQUEST without the URL in it, because a refused text may be a misplaced secret */
function mustBeCallable({ urlRules }: WebhookDeps, url: string): void {
  if (acceptUrl(url, urlRules)) return;
  const scheme = urlRules.allowsHttp ? '`http` or `https`' : '`https`';
  const message = `Send an absolute ${scheme} URL of a public host, without user name, password or fragment.`;
  throw badField('url', 'not_allowed', message);
}

/** @throws BAD_REQUEST with the position of the first pattern that matches no event */
function knownPatterns({ isKnownPattern }: Catalogue, events: readonly string[]): string[] {
  const at = events.findIndex((pattern) => !isKnownPattern(pattern));
  if (at >= 0) {
    const message = 'Send event types, areas such as `grant.*`, or `*`.';
    throw badField(`events.${at}`, 'not_allowed', message);
  }
  return [...new Set(events)];
}

/** @throws NOT_FOUND for an unknown webhook and for a webhook of another developer alike. */
export async function getWebhook(deps: WebhookDeps, caller: Caller, webhookId: string): Promise<Webhook> {
  const row = await findEndpoint(deps.db, caller.tenant, webhookId);
  if (!row) throw notFound();
  return toWebhook(row, deps.clock());
}

export async function listWebhooks(
  deps: WebhookDeps,
  caller: Caller,
  query: WebhookQuery,
): Promise<WebhookPage> {
  const rows = await listEndpointRows(deps.db, caller.tenant, query);
  const at = deps.clock();
  const { page, nextCursor } = pageOf(rows, byId, (row) => toWebhook(row, at));
  return { webhooks: page, nextCursor };
}

/**
 * Waiting deliveries go to the new URL, and go on waiting while the webhook is disabled.
 * @throws NOT_FOUND
 */
export function changeWebhook(
  deps: WebhookDeps,
  caller: Caller,
  webhookId: string,
  change: WebhookChange,
): Promise<Webhook> {
  if (change.url !== undefined) mustBeCallable(deps, change.url);
  const { events, ...plain } = change;
  const columns = { ...plain, ...(events && { events: knownPatterns(deps.catalogue, events) }) };
  const at = deps.clock();

  return inTransaction(deps.db, async (tx) => {
    if (!(await lockEndpoint(tx, caller.tenant, webhookId))) throw notFound();
    const row = await updateEndpoint(tx, caller.tenant, webhookId, { ...columns, updatedAt: at });
    const data = { webhookId, changed: Object.keys(change) };
    await recordActs(tx, caller, [{ type: 'webhook.updated', data }], at);
    return toWebhook(row, at);
  });
}

/** An endpoint that answers 410 asks for nothing more. One that has another URL by now does not mean it. */
export const disableGone: OnEndpointGone = ({ db }, { developerId, webhookId, url }, at) =>
  inTransaction(db, async (tx) => {
    const tenant = { developerId };
    const endpoint = await lockEndpoint(tx, tenant, webhookId);
    const parts = await findCallerParts(tx, tenant);
    if (!parts || endpoint?.status !== 'active' || endpoint.url !== url) return;
    await updateEndpoint(tx, tenant, webhookId, { status: 'disabled', updatedAt: at });
    const data = { webhookId, reason: 'gone' } as const;
    await recordActs(tx, systemCaller(tenant, parts, 'deliveries'), [{ type: 'webhook.disabled', data }], at);
  });

/** @throws NOT_FOUND, also when the webhook was deleted before. */
export function deleteWebhook(deps: WebhookDeps, caller: Caller, webhookId: string): Promise<void> {
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const endpoint = await lockEndpoint(tx, caller.tenant, webhookId);
    if (!endpoint) throw notFound();
    await failPending(tx, caller.tenant, webhookId, endpoint.url);
    await deleteEndpoint(tx, caller.tenant, webhookId);
    await freeQuota(tx, caller, 'webhooks', 1);
    await recordActs(tx, caller, [{ type: 'webhook.deleted', data: { webhookId } }], at);
  });
}

/** During the grace period, both secrets sign each delivery. @throws NOT_FOUND */
export function rotateSecret(
  deps: WebhookDeps,
  caller: Caller,
  webhookId: string,
  { graceSeconds }: WebhookSecretRotation,
): Promise<RotatedWebhookSecret> {
  const at = deps.clock();
  const secret = newWebhookSecret();
  const owner = { developerId: caller.tenant.developerId, webhookId };
  const previousSecretExpiresAt = new Date(at.getTime() + graceSeconds * 1000);

  return inTransaction(deps.db, async (tx) => {
    const endpoint = await lockEndpoint(tx, caller.tenant, webhookId);
    if (!endpoint) throw notFound();
    const previous = deps.seals.open(endpoint.secret, owner);
    await updateEndpoint(tx, caller.tenant, webhookId, {
      secret: deps.seals.seal(secret, owner),
      previousSecret: previous && graceSeconds > 0 ? deps.seals.seal(previous, owner) : null,
      sealKeyId: deps.seals.keyId,
      secretRotatedAt: at,
      previousSecretExpiresAt,
      updatedAt: at,
    });
    await recordActs(tx, caller, [{ type: 'webhook.updated', data: { webhookId, changed: ['secret'] } }], at);
    return { id: webhookId, secret, previousSecretExpiresAt: previousSecretExpiresAt.toISOString() };
  });
}

function toWebhook(row: EndpointRow, at: Date): Webhook {
  const { id, url, events, format, status, description } = row;
  const expiresAt = row.previousSecretExpiresAt;
  return {
    webhookId: id,
    id,
    url,
    events,
    format,
    status,
    description,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    lastDeliveryAt: row.lastDeliveryAt?.toISOString() ?? null,
    secretRotatedAt: row.secretRotatedAt?.toISOString() ?? null,
    previousSecretExpiresAt: expiresAt && expiresAt > at ? expiresAt.toISOString() : null,
  };
}

/**
 * Tells subscribers that the account is closed, with one attempt each, and nothing else. The attempt disables the
 * endpoint (`settle_webhook_delivery`).
 */
export const leaveLastDelivery: OnAccountClosed = async (tx, { tenant }) => {
  const type = 'developer.closed';
  await keepForLast(tx, tenant, { type, patterns: patternsOf(type) });
  return [];
};
