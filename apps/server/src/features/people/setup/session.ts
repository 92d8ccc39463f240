import type { Caller } from '../../../platform/caller.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { hashOf, newSecret } from '../../../platform/ids.ts';
import { findCallerParts, findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { findSetUpConnection } from '../sso/sso.queries.ts';
import type { LinkDeps } from './links.ts';
import { findLinkAcrossTenants, type LinkRow, lockLink, updateLink } from './setup.repo.ts';
import type { Purpose, SetupState } from './setup.schema.ts';

/** One sentence for every reason. */
const unusable = () =>
  new AppError('NOT_FOUND', 'This link was used, has expired or was revoked. Ask for a new link.');

/** A link whose session the browser has shown. */
export interface OpenSetup {
  readonly link: LinkRow;
  readonly caller: Caller;
}

/** Opens a link once. @throws NOT_FOUND */
export async function openLink(deps: LinkDeps, secret: string, requestId: string) {
  const at = deps.clock();
  const { caller, link } = await callerFor(deps.db, secret, requestId);
  const session = `${link.id}.${newSecret()}`;
  return inTransaction(deps.db, async (tx) => {
    const held = await lockLink(tx, caller.tenant, link.id);
    if (!held || held.openedAt || held.expiresAt <= at || !held.linkHash.equals(hashOf(secret)))
      throw unusable();
    await updateLink(tx, caller.tenant, link.id, { openedAt: at, sessionHash: hashOf(session) });
    const data = { setupId: held.id, name: held.name };
    await recordActs(tx, caller, [{ type: 'setup.link.opened', data }], at);
    return { session, setup: await setupOf(deps, tx, held) };
  });
}

/** Lets a browser work on its setup, which nobody ends meanwhile. @throws NOT_FOUND */
export async function withSetup<T>(
  deps: LinkDeps,
  session: string,
  requestId: string,
  work: (tx: Tx, open: OpenSetup) => Promise<T>,
): Promise<T> {
  const { caller, link } = await callerFor(deps.db, session, requestId);
  return inTransaction(deps.db, async (tx) => {
    const held = await lockLink(tx, caller.tenant, link.id);
    const isShown = held?.sessionHash?.equals(hashOf(session)) === true;
    if (!held || !isShown || held.finishedAt || held.expiresAt <= deps.clock()) throw unusable();
    return work(tx, { link: held, caller });
  });
}

/** The link that a secret names, which is not proved yet. @throws NOT_FOUND */
async function callerFor(db: Executor, secret: string, requestId: string): Promise<OpenSetup> {
  const [, id = ''] = /^(\w+)\./.exec(secret) ?? [];
  const link = await findLinkAcrossTenants(db, id);
  const parts = link && (await findCallerParts(db, link));
  if (!link || !parts) throw unusable();
  const tenant = { developerId: link.developerId };
  const caller = {
    tenant,
    agentIds: null,
    actor: `setup:${link.id}`,
    role: 'full',
    ...parts,
    requestId,
  } as const;
  return { link, caller };
}

/** @throws NOT_FOUND */
export const readSetup = (deps: LinkDeps, session: string, requestId: string): Promise<SetupState> =>
  withSetup(deps, session, requestId, (tx, { link }) => setupOf(deps, tx, link));

async function setupOf({ publicBaseUrl }: LinkDeps, db: Executor, link: LinkRow): Promise<SetupState> {
  const { connectionId } = link;
  const connection = connectionId === null ? undefined : await findSetUpConnection(db, link, connectionId);
  return {
    name: link.name,
    accountName: await findDeveloperName(db, link),
    purposes: link.purposes as Purpose[], // stored by `createLink`
    expiresAt: link.expiresAt.toISOString(),
    redirectUri: `${publicBaseUrl}/sso/callback`,
    acsUrl: connection?.spAcsUrl ?? `${publicBaseUrl}/sso/callback/saml`,
    entityId: connection?.spEntityId ?? `${publicBaseUrl}/sso/saml/${link.id}`,
    scimUrl: `${publicBaseUrl}/scim/v2`,
    protocol: connection?.protocol ?? null,
  };
}

/** Ends a setup. @throws NOT_FOUND */
export function finishSetup(deps: LinkDeps, session: string, requestId: string): Promise<void> {
  return withSetup(deps, session, requestId, async (tx, { link, caller }) => {
    const at = deps.clock();
    await updateLink(tx, caller.tenant, link.id, { finishedAt: at, sessionHash: null });
    const { id: setupId, name, connectionId } = link;
    await recordActs(tx, caller, [{ type: 'setup.finished', data: { setupId, name, connectionId } }], at);
  });
}
