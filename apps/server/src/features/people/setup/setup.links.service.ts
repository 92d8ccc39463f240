import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { hashOf, newId, newSecret } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import type { OnAccountClosed } from '../../accounts/developers/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { lockPeople } from '../scim/index.ts';
import { findSignallingConnection } from '../sso/sso.signals.queries.ts';
import {
  countRunning,
  deleteLink,
  deleteLinks,
  insertLink,
  type LinkRow,
  listLinkRows,
} from './setup.repo.ts';
import type {
  MadeSetupLink,
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
const MOST_RUNNING = 100;
const SHOWN_AFTER_END = 30 * 86_400_000; // milliseconds

/** @throws NOT_FOUND for a connection that the developer does not have, CONFLICT at `MOST_RUNNING` links */
export function createLink(deps: LinkDeps, caller: Caller, input: NewSetupLink): Promise<MadeSetupLink> {
  const at = deps.clock();
  const { name, connectionId = null, expiresIn = WEEK_SECONDS } = input;
  const purposes = [...new Set(input.purposes)].sort();
  const id = newId('setup', at);
  const secret = `${id}.${newSecret()}`;
  return inTransaction(deps.db, async (tx) => {
    const { tenant } = caller;
    await lockPeople(tx, tenant); // so that two links at once do not both take the last place
    const isKnown = connectionId === null || (await findSignallingConnection(tx, tenant, connectionId));
    if (!isKnown) throw notFound();
    if ((await countRunning(tx, tenant, at)) >= MOST_RUNNING) {
      throw new AppError('CONFLICT', `An account has at most ${MOST_RUNNING} setup links. Revoke one first.`);
    }
    const expiresAt = new Date(at.getTime() + expiresIn * 1000);
    const row = { id, name, purposes, connectionId, linkHash: hashOf(secret), createdAt: at, expiresAt };
    const made = await insertLink(tx, tenant, row, new Date(at.getTime() - SHOWN_AFTER_END));
    await recordActs(tx, caller, [{ type: 'setup.link.created', data: { setupId: id, name, purposes } }], at);
    return { ...toLink(made, at), url: `${deps.publicBaseUrl}/setup#link=${secret}` };
  });
}

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
