import { Id, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';
import { type Caller, systemCaller } from '../../../platform/caller.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { acceptUrl } from '../../../platform/egress/urls.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { hashOf, newId } from '../../../platform/ids.ts';
import { findCallerParts } from '../../accounts/developers/developers.queries.ts';
import { lockOpenAccount } from '../../accounts/developers/index.ts';
import { recordEntry } from '../../record/audit/index.ts';
import {
  deleteSubscription,
  findSubscription,
  insertSubscription,
  listSubscriptionRows,
  type SubscriptionRow,
  updateSubscription,
} from './approvers.repo.ts';
import type { ApproverDeps } from './deps.ts';
import { getApprover } from './manage.ts';
import { approverIn, mustBeFresh } from './session.ts';
import { isPoint, type PushAddress, type VapidKey, type WebPush } from './web-push.ts';

const closed = { additionalProperties: false } as const;
const base64url = (length: number) =>
  Type.String({ minLength: length, maxLength: length, pattern: '^[A-Za-z0-9_-]+$' });

export type NewBrowserSubscription = Static<typeof NewBrowserSubscription>;
export const NewBrowserSubscription = Type.Object(
  {
    endpoint: Type.String({ minLength: 1, maxLength: 2048 }),
    expirationTime: Type.Optional(
      Type.Union([Type.Number(), Type.Null()], {
        description: 'As the browser states it. It has no effect.',
      }),
    ),
    keys: Type.Object({ p256dh: base64url(87), auth: base64url(22) }, closed),
  },
  { ...closed, description: 'The subscription as the browser writes it: `PushSubscription.toJSON()`.' },
);

export type BrowserSubscription = Static<typeof BrowserSubscription>;
export const BrowserSubscription = Type.Object({
  id: Id,
  endpointSha256: Type.String({
    description: 'The SHA-256 of the endpoint in base64url, by which a browser knows its own.',
  }),
  vapidKey: Type.String({
    description: 'The key that the browser was given. Messages go to it while the service has this key.',
  }),
  createdAt: Time,
});

export type ApproverNotifications = Static<typeof ApproverNotifications>;
export const ApproverNotifications = Type.Object({
  publicKey: Type.String({ description: 'The `applicationServerKey` for a new subscription, in base64url.' }),
  subscriptions: Type.Array(BrowserSubscription),
});

const MAX_SUBSCRIPTIONS = 5;

/** The browsers in which the approver has turned on notifications, oldest first. */
export async function listNotifications(
  { db, push }: Pick<ApproverDeps, 'db' | 'push'>,
  caller: Caller,
): Promise<ApproverNotifications> {
  const rows = await listSubscriptionRows(db, caller.tenant, [approverIn(caller).approverId]);
  return { publicKey: push.publicKey, subscriptions: rows.map(toSubscription) };
}

/**
 * Turns on notifications in a browser. They tell of calls and decide nothing.
 * @throws BAD_REQUEST for an address to which no message may go, CONFLICT for one too many or for the browser of another approver,
 *   FORBIDDEN when the passkey was used too long ago
 */
export function turnOn(
  deps: ApproverDeps,
  caller: Caller,
  { endpoint, keys: { p256dh, auth } }: NewBrowserSubscription,
): Promise<BrowserSubscription> {
  if (!acceptUrl(endpoint, deps.urlRules)) {
    throw badField('endpoint', 'not_allowed', 'Send the endpoint of a push server on the internet.');
  }
  if (!isPoint(p256dh)) throw badField('keys.p256dh', 'not_allowed', 'Send a point of the curve P-256.');
  const { tenant } = caller;
  const { approverId } = approverIn(caller);
  const { push } = deps;
  const at = deps.clock();
  const address: PushAddress = { endpoint, p256dh, auth };
  const endpointHash = hashOf(endpoint);
  return inTransaction(deps.db, async (tx) => {
    await lockOpenAccount(tx, tenant);
    await mustBeFresh(deps, tx, caller);
    await getApprover(tx, tenant, approverId); // of two requests at once, the second sees the first
    const rows = await listSubscriptionRows(tx, tenant, [approverId]);
    const known = rows.find((row) => row.endpointHash.equals(endpointHash));
    const id = known?.id ?? newId('apsub', at);
    const change = { vapidKey: push.publicKey, ...push.seals.seal(address, { ...tenant, id }) };
    if (known) return toSubscription(await updateSubscription(tx, tenant, id, change));
    if (rows.length >= MAX_SUBSCRIPTIONS) {
      throw new AppError('CONFLICT', 'You have turned on notifications in 5 browsers. Turn one off.', {
        limit: MAX_SUBSCRIPTIONS,
      });
    }
    const row = await insertSubscription(tx, tenant, {
      ...{ id, approverId, endpointHash, createdAt: at },
      ...change,
    });
    if (!row) {
      throw new AppError('CONFLICT', 'Another approver has turned on notifications in this browser.', {
        sub_reason: 'other_approver',
      });
    }
    const data = { approverId, subscriptionId: id, changed: 'created' } as const;
    await recordEntry(tx, caller, { action: 'approver.notifications_changed', data }, at);
    return toSubscription(row);
  });
}

/** @throws NOT_FOUND, also for a browser of another approver */
export function turnOff({ db, clock }: Pick<ApproverDeps, 'db' | 'clock'>, caller: Caller, id: string) {
  const { approverId } = approverIn(caller);
  return inTransaction(db, async (tx) => {
    if (!(await deleteSubscription(tx, caller.tenant, { id, approverId }))) throw notFound();
    const data = { approverId, subscriptionId: id, changed: 'deleted' } as const;
    await recordEntry(tx, caller, { action: 'approver.notifications_changed', data }, clock());
  });
}

/** A browser to which messages can go. */
export interface OpenSubscription {
  readonly row: SubscriptionRow;
  readonly to: PushAddress;
  readonly key: VapidKey;
}

/** @returns undefined where it is turned off, or where the service lacks a key that it needs */
export async function openSubscription(
  { db, push: { seals, keys } }: { readonly db: Executor; readonly push: WebPush },
  tenant: Caller['tenant'],
  id: string,
): Promise<OpenSubscription | undefined> {
  const row = await findSubscription(db, tenant, id);
  const [to, key] = row ? [seals.open(row), keys.get(row.vapidKey)] : [];
  return row && to && key ? { row, to, key } : undefined;
}

/** Ends a subscription that the push server no longer knows. */
export function endSubscription(
  { db, clock }: Pick<ApproverDeps, 'clock'> & { readonly db: Executor },
  { developerId, approverId, id }: SubscriptionRow,
): Promise<void> {
  const tenant = { developerId };
  return inTransaction(db, async (tx) => {
    const parts = await findCallerParts(tx, tenant);
    if (!parts || !(await deleteSubscription(tx, tenant, { id, approverId }))) return;
    const data = { approverId, subscriptionId: id, changed: 'gone' } as const;
    const entry = { action: 'approver.notifications_changed', data } as const;
    await recordEntry(tx, systemCaller(tenant, parts, 'deliveries'), entry, clock());
  });
}

const toSubscription = ({ id, endpointHash, vapidKey, createdAt }: SubscriptionRow): BrowserSubscription => ({
  ...{ id, endpointSha256: endpointHash.toString('base64url'), vapidKey },
  createdAt: createdAt.toISOString(),
});
