import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, isReferenced, isTaken, type Tx } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { currentKey, type MasterKeys, newEnvelope } from '../../../platform/envelope.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { foundOf, sealedFor, settingsOf } from './providers.client.service.ts';
import { discover, mustBeCallable } from './providers.discovery.service.ts';
import type { Found } from './providers.found.rules.ts';
import type { OnProviderDeleted } from './providers.hooks.ts';
import { shownPresets, withPreset } from './providers.presets.service.ts';
import { type Registered, registerClient } from './providers.registration.service.ts';
import {
  CONNECTED,
  deleteProviderRow,
  failProvider,
  findProvider,
  insertProvider,
  listProviderRows,
  type ProviderRow,
  SERVICE_INDEX,
  updateProvider,
} from './providers.repo.ts';
import { changedSettings, isOtherClient, mustBeService, newSettings } from './providers.rules.ts';
import type {
  NewProvider,
  Provider,
  ProviderChange,
  ProviderPage,
  ProviderQuery,
  ProviderSettings,
} from './providers.schema.ts';

export interface ProviderDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly vault: MasterKeys;
  /** The addresses that upstreams may name. */
  readonly upstream: Egress;
  readonly publicBaseUrl: string;
  readonly onDeleted: readonly OnProviderDeleted[];
}

export const redirectUriOf = ({ publicBaseUrl }: Pick<ProviderDeps, 'publicBaseUrl'>, id: string) =>
  `${publicBaseUrl}/connect/callback/${id}`;
export const documentUrlOf = ({ publicBaseUrl }: Pick<ProviderDeps, 'publicBaseUrl'>, id: string) =>
  `${publicBaseUrl}/connect/clients/${id}`;

/** @throws BAD_REQUEST, DISCOVERY_FAILED, CONFLICT, UPSTREAM_ERROR, NOT_CONFIGURED */
export async function addProvider(deps: ProviderDeps, caller: Caller, input: NewProvider): Promise<Provider> {
  const { service, ...rest } = input;
  mustBeService(service);
  const described = withPreset(rest);
  const settings = newSettings(described);
  mustBeCallable(deps.upstream, settings);
  currentKey(deps.vault);
  const at = deps.clock();
  const id = newId('prov', at);
  const found = await discover(deps.upstream, settings);
  const client = await clientFor(deps, caller, { id, settings, found, clientSecret: input.clientSecret });
  const row = {
    id,
    service,
    name: described.name ?? service,
    settings: JSON.stringify(settings),
    found: JSON.stringify(found),
    ...clientColumns(deps, caller.tenant, { id, found, client, at }),
    status: 'active',
    lastDiscoveredAt: at,
    lastError: null,
    createdAt: at,
    updatedAt: at,
  } as const;
  try {
    return await inTransaction(deps.db, async (tx) => {
      const stored = await insertProvider(tx, caller.tenant, row);
      await recordActs(
        tx,
        caller,
        [{ type: 'vault.provider.created', data: { providerId: id, service } }],
        at,
      );
      return toProvider(deps, stored);
    });
  } catch (error) {
    if (!isTaken(error, SERVICE_INDEX)) throw error;
    throw new AppError('CONFLICT', 'There is a provider of this service already.', { field: 'service' });
  }
}

interface Client {
  readonly id: string;
  readonly settings: ProviderSettings;
  readonly found: Found;
  readonly clientSecret: string | undefined;
}

async function clientFor(
  deps: ProviderDeps,
  { tenant }: Caller,
  { id, settings, found, clientSecret }: Client,
): Promise<Registered> {
  return registerClient(deps.upstream, {
    settings,
    found,
    clientSecret,
    developerName: await findDeveloperName(deps.db, tenant),
    redirectUri: redirectUriOf(deps, id),
    documentUrl: documentUrlOf(deps, id),
  });
}

interface Sealing {
  readonly id: string;
  readonly found: Found;
  readonly client: Registered;
  readonly at: Date;
}

/** The client of an upstream, with its secrets sealed for the origin of the token endpoint. */
function clientColumns({ vault }: ProviderDeps, tenant: Tenant, { id, found, client, at }: Sealing) {
  const { clientId, clientSource, authMethod, clientSecret, privateKey, registrationToken } = client;
  const hasSecret = [clientSecret, privateKey, registrationToken].some((secret) => secret !== undefined);
  const envelope = hasSecret
    ? newEnvelope(currentKey(vault), sealedFor(tenant, id, found.tokenEndpoint))
    : undefined;
  const seal = (field: string, text: string | undefined) =>
    text === undefined ? null : (envelope?.seal(field, text) ?? null);
  return {
    clientId,
    clientSource,
    authMethod,
    keyId: envelope?.keyId ?? null,
    dataKey: envelope?.dataKey ?? null,
    clientSecret: seal('client_secret', clientSecret),
    privateKey: seal('private_key', privateKey),
    registrationToken: seal('registration_token', registrationToken),
    clientExpiresAt: client.clientExpiresAt ?? null,
    registeredAt: clientSource === 'dcr' ? at : null,
  };
}

export async function listProviders(
  deps: ProviderDeps,
  { tenant }: Caller,
  query: ProviderQuery,
): Promise<ProviderPage> {
  const rows = await listProviderRows(deps.db, tenant, query);
  const { page, nextCursor } = pageOf(rows, byId, (row) => toProvider(deps, row));
  return { providers: page, nextCursor };
}

/** @throws NOT_FOUND for an unknown provider and for a foreign one alike */
export async function getProvider(deps: ProviderDeps, { tenant }: Caller, id: string): Promise<Provider> {
  return toProvider(deps, await storedProvider(deps, tenant, id));
}

async function storedProvider({ db }: ProviderDeps, tenant: Tenant, id: string): Promise<ProviderRow> {
  const row = await findProvider(db, tenant, id);
  if (!row) throw notFound();
  return row;
}

/**
 * Changes a provider, and reads again what its upstream publishes. Another issuer, token endpoint or client drops the
 * secrets of the one before: the same body brings its own.
 * @throws NOT_FOUND, BAD_REQUEST, DISCOVERY_FAILED, CONFLICT, UPSTREAM_ERROR, NOT_CONFIGURED
 */
export async function changeProvider(
  deps: ProviderDeps,
  caller: Caller,
  id: string,
  change: ProviderChange,
): Promise<Provider> {
  const row = await storedProvider(deps, caller.tenant, id);
  const before = settingsOf(row);
  if (before.preset !== null) withPreset({ ...inSettings(change), preset: before.preset });
  const settings = changedSettings(before, change);
  mustBeCallable(deps.upstream, settings);
  currentKey(deps.vault);
  const at = deps.clock();
  const found = await discover(deps.upstream, settings);
  const isOther =
    isOtherClient(before, settings, { before: originOf(foundOf(row)), after: originOf(found) }) ||
    change.clientSecret !== undefined ||
    change.authMethod !== undefined;
  const client =
    isOther && (await clientFor(deps, caller, { id, settings, found, clientSecret: change.clientSecret }));
  const columns = {
    ...(change.name !== undefined && { name: change.name }),
    settings: JSON.stringify(settings),
    found: JSON.stringify(found),
    ...(client && clientColumns(deps, caller.tenant, { id, found, client, at })),
    status: change.status ?? (row.status === 'error' ? 'active' : row.status),
    lastDiscoveredAt: at,
    lastError: null,
    updatedAt: at,
  };
  return write(deps, caller, row, { columns, changed: Object.keys(change) });
}

const inSettings = ({ status: _, ...change }: ProviderChange) => change;

const originOf = ({ tokenEndpoint }: Found) => new URL(tokenEndpoint).origin;

/**
 * Reads again what the upstream publishes. A token endpoint of another origin gets no secret: somebody who may change
 * the provider sends it again.
 * @throws NOT_FOUND, DISCOVERY_FAILED, UPSTREAM_ERROR
 */
export async function rediscover(deps: ProviderDeps, caller: Caller, id: string): Promise<Provider> {
  const row = await storedProvider(deps, caller.tenant, id);
  const at = deps.clock();
  const found = await discover(deps.upstream, settingsOf(row)).catch(async (error: unknown) => {
    if (error instanceof AppError) await markFailed(deps, caller, row, reasonOf(error));
    throw error;
  });
  const columns = { found: JSON.stringify(found), lastDiscoveredAt: at, updatedAt: at };
  if (originOf(found) !== originOf(foundOf(row))) {
    await markFailed(deps, caller, row, 'endpoint_changed');
    return getProvider(deps, caller, id);
  }
  const healed = row.status === 'error' && row.lastError !== 'endpoint_changed';
  const status = healed ? ({ status: 'active', lastError: null } as const) : {};
  return write(deps, caller, row, { columns: { ...columns, ...status }, changed: [] });
}

const reasonOf = ({ details }: AppError): string => String(details?.reason ?? 'failed');

type Failing = Pick<ProviderDeps, 'db' | 'clock'>;

/** Sessions begin at active providers only. The class of the error is kept, and no words of the upstream. */
export function markFailed(
  { db, clock }: Failing,
  caller: Caller,
  { id, service }: Pick<ProviderRow, 'id' | 'service'>,
  error: string,
): Promise<void> {
  return inTransaction(db, (tx) => failWithin(tx, caller, { id, service, error }, clock()));
}

async function failWithin(
  tx: Tx,
  caller: Caller,
  { id, service, error }: { readonly id: string; readonly service: string; readonly error: string },
  at: Date,
): Promise<void> {
  const isNew = await failProvider(tx, caller.tenant, id, { lastError: error, updatedAt: at });
  if (!isNew) return;
  const data = { providerId: id, service, error };
  await recordActs(tx, caller, [{ type: 'vault.provider.failed', data }], at);
}

interface Write {
  readonly columns: Parameters<typeof updateProvider>[3];
  readonly changed: readonly string[];
}

/** @throws CONFLICT when another change came first */
function write(
  deps: ProviderDeps,
  caller: Caller,
  row: ProviderRow,
  { columns, changed }: Write,
): Promise<Provider> {
  const { id, service } = row;
  return inTransaction(deps.db, async (tx) => {
    const after = await updateProvider(tx, caller.tenant, row, columns);
    if (!after) throw new AppError('CONFLICT', 'The provider was changed meanwhile. Read it again.');
    const data = { providerId: id, service, changed };
    await recordActs(tx, caller, [{ type: 'vault.provider.updated', data }], deps.clock());
    return toProvider(deps, after);
  });
}

/** @throws NOT_FOUND, CONFLICT while a credential of it exists */
export async function deleteProvider(deps: ProviderDeps, caller: Caller, id: string): Promise<void> {
  const at = deps.clock();
  try {
    await inTransaction(deps.db, async (tx) => {
      const row = await deleteProviderRow(tx, caller.tenant, id);
      if (!row) throw notFound();
      const ended = [];
      for (const listener of deps.onDeleted) ended.push(...(await listener(tx, caller, id, at)));
      const data = { providerId: id, service: row.service };
      await recordActs(tx, caller, [{ type: 'vault.provider.deleted', data }, ...ended], at);
    });
  } catch (error) {
    if (!isReferenced(error, CONNECTED)) throw error;
    const message = 'Accounts are connected through this provider. Disconnect them first.';
    throw new AppError('CONFLICT', message, { field: 'connections' });
  }
}

function toProvider(deps: Pick<ProviderDeps, 'publicBaseUrl'>, row: ProviderRow): Provider {
  const { id, service, name, clientId, clientSource, status, lastError } = row;
  const { kind, preset, issuer, mcpUrl, ...settings } = settingsOf(row);
  const found = foundOf(row);
  return {
    id,
    providerId: id,
    service,
    name,
    kind,
    preset,
    issuer: found.issuer ?? issuer,
    mcpUrl,
    authorizationEndpoint: found.authorizationEndpoint,
    tokenEndpoint: found.tokenEndpoint,
    revocationEndpoint: found.revocationEndpoint,
    userinfoEndpoint: found.userinfoEndpoint,
    parEndpoint: found.parEndpoint,
    jwksUri: found.jwksUri,
    clientId,
    clientSource,
    hasClientSecret: row.clientSecret !== null,
    authMethod: row.authMethod as Provider['authMethod'], // stored by this service
    scopes: { required: [...settings.scopes.required], optional: [...settings.scopes.optional] },
    acceptPartial: settings.acceptPartial,
    pkce: settings.pkce,
    authorizeParams: settings.authorizeParams,
    account: settings.account,
    scopeSeparator: settings.scopeSeparator,
    tokenPointers: settings.tokenPointers,
    redirectUri: redirectUriOf(deps, id),
    status,
    lastDiscoveredAt: row.lastDiscoveredAt?.toISOString() ?? null,
    lastError,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

export const listPresets = () => ({ presets: shownPresets });
