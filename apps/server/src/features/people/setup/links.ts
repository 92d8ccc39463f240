import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { hashOf, newId, newSecret } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import type { OnAccountClosed } from '../../accounts/developers/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { lockPeople } from '../scim/index.ts';
import type { OnActivated } from '../sso/index.ts';
import { findSignallingConnection } from '../sso/sso.queries.ts';
import {
  countRunning,
  deleteLink,
  deleteLinks,
  finishLinksOf,
  insertLink,
  type LinkRow,
  listLinkRows,
} from './setup.repo.ts';
import type {
  CreatedSetupLink,
  NewSetupLink,
  Purpose,
  SetupLink,
  SetupLinkPage,
  SetupLinkQuery,
} from './setup.schema.ts';

export interface LinkDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly publicBaseUrl: string;
}

const WEEK_SECONDS = 7 * 86_400;
const MAX_RUNNING = 100;
const SHOWN_AFTER_END = 30 * 86_400_000; // milliseconds

/** @throws NOT_FOUND for a connection that the developer does not have, CONFLICT at `MAX_RUNNING` links */
export function createLink(deps: LinkDeps, caller: Caller, input: NewSetupLink): Promise<CreatedSetupLink> {
  const at = deps.clock();
  const { name, connectionId = null, expiresIn = WEEK_SECONDS } = input;
  const purposes = [...new Set(input.purposes)].sort();
  if (purposes.includes('scim') && input.acknowledge === undefined) throw mustAcknowledge();
  const id = newId('setup', at);
  const secret = `${id}.${newSecret()}`;
  return inTransaction(deps.db, async (tx) => {
    const { tenant } = caller;
    await lockPeople(tx, tenant); // so that two links at once do not both take the last place
    const isKnown = connectionId === null || (await findSignallingConnection(tx, tenant, connectionId));
    if (!isKnown) throw notFound();
    if ((await countRunning(tx, tenant, at)) >= MAX_RUNNING) {
      throw new AppError('CONFLICT', `An account has at most ${MAX_RUNNING} setup links. Revoke one first.`);
    }
    const expiresAt = new Date(at.getTime() + expiresIn * 1000);
    const row = { id, name, purposes, connectionId, linkHash: hashOf(secret), createdAt: at, expiresAt };
    const made = await insertLink(tx, tenant, row, new Date(at.getTime() - SHOWN_AFTER_END));
    await recordActs(tx, caller, [{ type: 'setup.link.created', data: { setupId: id, name, purposes } }], at);
    return { ...toLink(made, at), url: `${deps.publicBaseUrl}/setup#link=${secret}` };
  });
}

/** The administrator of one customer would get the people of all, and the page speaks of one. */
const mustAcknowledge = () =>
  badField(
    'acknowledge',
    'required',
    'The SCIM token of this link reads and writes the people of your whole account, also those of other customers. Send `acknowledge` with `"all people of the account"`, or leave out the purpose `scim`.',
  );

export async function listLinks(
  { db, clock }: LinkDeps,
  { tenant }: Caller,
  query: SetupLinkQuery,
): Promise<SetupLinkPage> {
  const now = clock();
  const { page, nextCursor } = pageOf(await listLinkRows(db, tenant, query), byId, (row) => toLink(row, now));
  return { links: page, nextCursor };
}

/** Ends a link, and the session of the browser that opened it. @throws NOT_FOUND */
export function revokeLink({ db, clock }: LinkDeps, caller: Caller, setupId: string): Promise<void> {
  return inTransaction(db, async (tx) => {
    const link = await deleteLink(tx, caller.tenant, setupId);
    if (!link) throw notFound();
    const data = { setupId, name: link.name };
    await recordActs(tx, caller, [{ type: 'setup.link.revoked', data }], clock());
  });
}

/** The developer has reviewed the connection: no browser changes it any more. A link that nobody has opened stays. */
export const endSessionsOfConnection: OnActivated = async (tx, { tenant }, { connectionId, at }) => {
  const finished = await finishLinksOf(tx, tenant, connectionId, at);
  return finished.map(({ id: setupId, name }) => ({
    type: 'setup.finished' as const,
    data: { setupId, name, connectionId },
  }));
};

/** Ends the links of an account that is closed. */
export const endLinksOfAccount: OnAccountClosed = async (tx, { tenant }) => {
  await deleteLinks(tx, tenant);
  return [];
};

function toLink(row: LinkRow, now: Date): SetupLink {
  const { id, name, connectionId, createdAt, expiresAt, openedAt, finishedAt } = row;
  const running = openedAt ? 'opened' : 'open';
  return {
    ...{ id, name, connectionId },
    purposes: row.purposes as Purpose[], // stored by `createLink`
    status: finishedAt ? 'finished' : expiresAt <= now ? 'expired' : running,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    openedAt: openedAt?.toISOString() ?? null,
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}
