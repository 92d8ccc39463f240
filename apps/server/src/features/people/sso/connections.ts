import type { Act } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import { inTransaction, isTaken, type Tx } from '../../../platform/db/db.ts';
import { acceptUrl, domainName } from '../../../platform/egress/urls.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { freeQuota, useQuota } from '../../accounts/quotas/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { unexpired } from './certificates.rules.ts';
import type { SsoDeps } from './deps.ts';
import { beginEnforcement } from './enforce.ts';
import { nameProvider } from './identities.repo.ts';
import { samlMetadata } from './saml.ts';
import { membersOf, SECRET_NAMES, sealed, secretIn } from './secrets.ts';
import { deleteSessionsOf } from './sessions.repo.ts';
import { toConnection } from './show.ts';
import type { OnIssuerChanged } from './sso.hooks.ts';
import {
  type ConnectionRow,
  DOMAIN_KEY,
  deleteConnectionRow,
  findConnectionAcrossTenants,
  insertConnection,
  lockActive,
  lockConnection,
  updateConnection,
  writeDomains,
} from './sso.repo.ts';
import {
  isOtherProvider,
  mergedMembers,
  newMembers,
  opensConsole,
  providerOf,
  type SsoMembers,
  secretGoesTo,
} from './sso.rules.ts';
import type { NewSsoConnection, SsoConnection, SsoConnectionChange } from './sso.schema.ts';

type WritingDeps = Pick<
  SsoDeps,
  | 'db'
  | 'clock'
  | 'vault'
  | 'upstream'
  | 'isProduction'
  | 'publicBaseUrl'
  | 'allowsPlainLdap'
  | 'store'
  | 'onActivated'
  | 'onEnforced'
  | 'onIssuerChanged'
  | 'quotas'
>;

/** Whoever finds a key, or sets a provider up, must not let themselves into the console. @throws FORBIDDEN */
function mustGovern({ member }: Caller): void {
  if (member?.capabilities.includes('govern')) return;
  const message =
    'Only an owner who is signed in to the console decides who comes into it by this connection. To change the connection without one, set `consoleAccess` to `false` first.';
  throw new AppError('FORBIDDEN', message, { capability: 'govern' });
}

/** @throws BAD_REQUEST, FORBIDDEN, CONFLICT, PLAN_LIMIT_EXCEEDED, NOT_CONFIGURED */
export async function addConnection(
  deps: WritingDeps,
  caller: Caller,
  input: NewSsoConnection,
  { isDefault = false } = {},
): Promise<SsoConnection> {
  const { protocol, name } = input;
  const members = newMembers(input);
  if (opensConsole({}, members, input)) mustGovern(caller);
  const at = deps.clock();
  mustBeUsable(deps, members, at);
  const secretName = SECRET_NAMES[protocol];
  const secret = secretIn(input);
  if (secretName !== undefined && secret === undefined) throw badField(secretName, 'required');
  const id = newId('sso', at);
  const domains = domainsIn(deps, input.domains ?? []);
  const row = {
    id,
    name,
    protocol,
    status: input.status ?? 'active',
    settings: JSON.stringify(members),
    domains,
    enforce: input.enforce ?? false,
    isDefault,
    ...sealed(deps, caller.tenant, { id, members, secret }),
    lastTestedAt: null,
    lastLoginAt: null,
    createdAt: at,
    updatedAt: at,
  };
  return withOwnDomains(deps, async (tx) => {
    await useQuota(tx, deps.quotas, caller, 'sso_connections', at);
    const stored = await insertConnection(tx, caller.tenant, row);
    await writeDomains(tx, caller.tenant, id, row.status === 'inactive' ? [] : domains);
    const signedOut = isEnforcing(stored) ? await beginEnforcement(deps, tx, caller, [stored], at) : [];
    const data = { connectionId: id, protocol, name };
    await recordActs(tx, caller, [{ type: 'sso.connection.created', data }, ...signedOut], at);
    return toConnection(stored);
  });
}

/** @throws CONFLICT for a domain that another connection of the developer has */
async function withOwnDomains<T>({ db }: WritingDeps, work: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await inTransaction(db, work);
  } catch (error) {
    if (!isTaken(error, DOMAIN_KEY)) throw error;
    const message = 'One of these domains is on another connection. Take it from there first.';
    throw new AppError('CONFLICT', message, { field: 'domains' });
  }
}

/**
 * @param isOnTrial whether somebody else than the developer makes the change, who then reviews it before it is in use
 * @throws NOT_FOUND, BAD_REQUEST, FORBIDDEN, CONFLICT, NOT_CONFIGURED
 */
export function changeConnection(
  deps: WritingDeps,
  caller: Caller,
  id: string,
  change: SsoConnectionChange,
  { isOnTrial = false } = {},
): Promise<SsoConnection> {
  const at = deps.clock();
  const { tenant } = caller;
  return withOwnDomains(deps, async (tx) => {
    const row = await lockConnection(tx, tenant, id);
    if (!row) throw notFound();
    if (change.protocol !== undefined && change.protocol !== row.protocol) {
      throw badField(
        'protocol',
        'not_allowed',
        'The protocol of a connection stays. Make another connection.',
      );
    }
    const before = membersOf(row);
    const members = mergedMembers(row.protocol, before, change);
    if (opensConsole(before, members, change)) mustGovern(caller);
    mustBeUsable(deps, members, at);
    const secret = secretIn(change);
    const secretName = SECRET_NAMES[row.protocol];
    const goesElsewhere = secretGoesTo(before) !== secretGoesTo(members);
    if (goesElsewhere && secret === undefined && secretName !== undefined) {
      throw badField(
        secretName,
        'required',
        'Another server gets a secret of its own. Send it in the same body.',
      );
    }
    const domains = change.domains === undefined ? row.domains : domainsIn(deps, change.domains ?? []);
    if (isOnTrial && isEnforcing(row)) throw mustStayEnforced();
    const status = isOnTrial && row.status === 'active' ? 'testing' : (change.status ?? row.status);
    const enforce = change.enforce ?? row.enforce;
    const stops = row.status === 'active' && status !== 'active';
    if (stops) await mustNotBeLast(tx, tenant, row);
    const isOther = isOtherProvider(before, members);
    const place = { connectionId: id, provider: providerOf(before) };
    if (place.provider !== providerOf(members)) await nameProvider(tx, tenant, place);
    const after = await updateConnection(tx, tenant, id, {
      ...(change.name !== undefined && { name: change.name }),
      status,
      settings: JSON.stringify(members),
      domains,
      enforce,
      ...sealed(deps, tenant, { id, members, secret }),
      ...((isOther || stops) && { lastTestedAt: null }),
      ...(isOther && { lastLoginAt: null }),
      updatedAt: at,
    });
    await writeDomains(tx, tenant, id, status === 'inactive' ? [] : domains);
    const isWider = !isEnforcing(row) || domains.some((domain) => !row.domains.includes(domain));
    const begins = isEnforcing(after) && isWider;
    const signedOut = begins ? await beginEnforcement(deps, tx, caller, [after], at) : [];
    const ended = isOther || stops ? await endSessions(tx, tenant, id, 'connection_changed') : [];
    const isOtherIssuer = before.issuerUrl !== members.issuerUrl;
    const untrusted = isOtherIssuer
      ? await heard(deps.onIssuerChanged, tx, caller, { connectionId: id, at })
      : [];
    const isActivated = status === 'active' && row.status !== 'active';
    const finished = isActivated ? await heard(deps.onActivated, tx, caller, { connectionId: id, at }) : [];
    const data = { connectionId: id, changed: Object.keys(change) };
    const changed: Act = { type: 'sso.connection.updated', data };
    await recordActs(tx, caller, [changed, ...signedOut, ...ended, ...untrusted, ...finished], at);
    return toConnection(after);
  });
}

const isEnforcing = ({ enforce, status }: ConnectionRow): boolean => enforce && status === 'active';

async function heard(
  listeners: readonly OnIssuerChanged[],
  ...[tx, caller, change]: Parameters<OnIssuerChanged>
): Promise<Act[]> {
  const acts: Act[] = [];
  for (const listener of listeners) acts.push(...(await listener(tx, caller, change)));
  return acts;
}

/** Nobody would be asked to sign in while the change waits for the developer. */
const mustStayEnforced = () =>
  new AppError(
    'CONFLICT',
    'Single sign-on is enforced at this connection. Ask the developer of the service to change it, or to stop enforcing it first.',
    { field: 'enforce' },
  );

async function endSessions(tx: Tx, tenant: Tenant, connectionId: string, reason: string): Promise<Act[]> {
  const ended = await deleteSessionsOf(tx, tenant, connectionId);
  return ended.map(({ id, principalId }) => ({
    type: 'sso.session.revoked' as const,
    ...(principalId !== null && { principalId }),
    data: { connectionId, sessionId: id, reason },
  }));
}

/** People who must sign in by SSO need a way to. @throws CONFLICT */
async function mustNotBeLast(tx: Tx, tenant: Tenant, { id, enforce, status }: ConnectionRow): Promise<void> {
  if (!enforce || status !== 'active') return;
  const others = (await lockActive(tx, tenant)).filter((other) => other.id !== id);
  if (others.length > 0) return;
  throw new AppError(
    'CONFLICT',
    'Single sign-on is enforced, and this is its last connection. Stop enforcing it first.',
    {
      field: 'enforce',
    },
  );
}

/** @throws NOT_FOUND, CONFLICT */
export async function deleteConnection(deps: WritingDeps, caller: Caller, id: string): Promise<void> {
  const { tenant } = caller;
  const at = deps.clock();
  await inTransaction(deps.db, async (tx) => {
    const row = await lockConnection(tx, tenant, id);
    if (!row) throw notFound();
    await mustNotBeLast(tx, tenant, row);
    const ended = await endSessions(tx, tenant, id, 'connection_deleted');
    await deleteConnectionRow(tx, tenant, id);
    await freeQuota(tx, caller, 'sso_connections', 1);
    await recordActs(
      tx,
      caller,
      [{ type: 'sso.connection.deleted', data: { connectionId: id } }, ...ended],
      at,
    );
  });
}

/** The settings of the operator that decide which connections are taken. */
type Accepting = Pick<SsoDeps, 'upstream' | 'isProduction' | 'publicBaseUrl' | 'allowsPlainLdap'>;

/** @throws BAD_REQUEST */
function mustBeUsable(deps: Accepting, members: SsoMembers, now: Date): void {
  const { rules } = deps.upstream;
  mustBeIssuer(members.issuerUrl ?? '');
  for (const name of ['issuerUrl', 'idpSsoUrl'] as const) {
    const url = members[name];
    if (url === undefined || acceptUrl(url, rules)) continue;
    throw badField(name, 'not_allowed', 'Send an absolute `https` URL of a public host.');
  }
  const addresses = [...members.redirectUris, ...(members.spAcsUrl === undefined ? [] : [members.spAcsUrl])];
  for (const uri of addresses) {
    const isOwn = uri.startsWith(`${deps.publicBaseUrl}/`);
    if (isOwn || acceptUrl(uri, { ...rules, allowsPrivateHosts: true })) continue;
    throw badField('redirectUris', 'not_allowed', 'Send absolute `https` URLs without a fragment.');
  }
  if (members.idpCertificates && unexpired(members.idpCertificates, now).length === 0) {
    throw badField('idpCertificate', 'not_allowed', 'Every certificate has expired.');
  }
  if (members.ldapUrl !== undefined) mustBeDirectory(deps, members);
}

/** An issuer as people copy it from a page of their provider. */
function mustBeIssuer(issuerUrl: string): void {
  if (/\/\.well-known\//.test(issuerUrl)) {
    throw badField('issuerUrl', 'format', 'Leave out `/.well-known/` and what follows: send the issuer.');
  }
  if (/[{}<>]/.test(issuerUrl)) {
    throw badField('issuerUrl', 'format', 'Put the id of your tenant in the place of the braces.');
  }
}

function mustBeDirectory({ upstream, allowsPlainLdap }: Accepting, members: SsoMembers): void {
  const { ldapUrl = '', ldapTlsEnabled = false } = members;
  const [, scheme = '', rest = ''] = /^(ldaps?):\/\/(.+)$/.exec(ldapUrl) ?? [];
  const asHttps = acceptUrl(`https://${rest}`, upstream.rules);
  if (scheme === '' || !asHttps || asHttps.pathname !== '/' || asHttps.search !== '') {
    throw badField('ldapUrl', 'not_allowed', 'Send `ldaps://<host>[:port]` of a public host.');
  }
  if (scheme === 'ldap' && !ldapTlsEnabled && !allowsPlainLdap) {
    throw badField('ldapTlsEnabled', 'not_allowed', 'Set `ldapTlsEnabled`, or use `ldaps:`.');
  }
}

/** Names in lower-case ASCII, each once. @throws BAD_REQUEST */
function domainsIn({ isProduction }: Pick<SsoDeps, 'isProduction'>, said: readonly string[]): string[] {
  const names = said.map((text, index) => {
    const name = domainName(text, { allowsSpecialUse: !isProduction });
    if (name === undefined) throw badField(`domains.${index}`, 'format');
    return name;
  });
  return [...new Set(names)];
}

/** @throws NOT_FOUND for anything but a SAML connection */
export async function metadataOf({ db }: Pick<SsoDeps, 'db'>, id: string): Promise<string> {
  const row = await findConnectionAcrossTenants(db, id);
  if (row?.protocol !== 'saml') throw notFound();
  return samlMetadata(row);
}
