import type { Act } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import type { MasterKeys } from '../../../platform/envelope.ts';
import { badField, notFound } from '../../../platform/errors.ts';
import { hook } from '../../../platform/hooks.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { foundOf, settingsOf } from './client.ts';
import presetFile from './providers.presets.json' with { type: 'json' };
import { findProvider, listProviderRows, type ProviderRow } from './providers.repo.ts';
import type {
  NewProvider,
  Provider,
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
  readonly quotas: Quotas;
  readonly onDeleted: readonly OnProviderDeleted[];
}

export const redirectUriOf = ({ publicBaseUrl }: Pick<ProviderDeps, 'publicBaseUrl'>, id: string) =>
  `${publicBaseUrl}/connect/callback/${id}`;

export const documentUrlOf = ({ publicBaseUrl }: Pick<ProviderDeps, 'publicBaseUrl'>, id: string) =>
  `${publicBaseUrl}/connect/clients/${id}`;

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

export async function storedProvider({ db }: ProviderDeps, tenant: Tenant, id: string): Promise<ProviderRow> {
  const row = await findProvider(db, tenant, id);
  if (!row) throw notFound();
  return row;
}

export function toProvider(deps: Pick<ProviderDeps, 'publicBaseUrl'>, row: ProviderRow): Provider {
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
    tokenLifetimeSeconds: settings.tokenLifetimeSeconds ?? null,
    redirectUri: redirectUriOf(deps, id),
    status,
    lastDiscoveredAt: row.lastDiscoveredAt?.toISOString() ?? null,
    lastError,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

export const listPresets = () => ({ presets: shownPresets });

/** The facts about an upstream that many developers use. `open` names the members that a developer may replace. */
export interface Preset extends Partial<Omit<ProviderSettings, 'scopes'>> {
  readonly name: string;
  readonly kind: ProviderSettings['kind'];
  readonly scopes?: { readonly required?: readonly string[]; readonly optional?: readonly string[] };
  readonly open: readonly string[];
}

/** The presets are data, whose shape a test checks. */
const presets = presetFile as unknown as Readonly<Record<string, Preset>>; // JSON's words are strings to the compiler

export const shownPresets = Object.entries(presets).map(([preset, { name, kind, open }]) => ({
  preset,
  name,
  kind,
  open: [...open],
}));

/** Members that say what the developer's own client is, or how its account at the upstream is set up. */
const ALWAYS_OPEN: ReadonlySet<string> = new Set([
  ...['service', 'name', 'preset', 'clientId', 'clientSecret', 'acceptPartial', 'tokenLifetimeSeconds'],
]);

/** Fills what was not sent. @throws BAD_REQUEST for an unknown preset, and for a member that it does not leave open */
export function withPreset(input: Omit<NewProvider, 'service'>): Omit<NewProvider, 'service'> {
  const word = input.preset ?? undefined;
  if (word === undefined) return input;
  const preset = Object.hasOwn(presets, word) ? presets[word] : undefined;
  if (!preset) throw badField('preset', 'not_allowed', 'There is no preset of this name.');
  const closed = Object.keys(input).find(
    (member) => !ALWAYS_OPEN.has(member) && !preset.open.includes(member),
  );
  if (closed !== undefined) {
    throw badField(closed, 'not_allowed', 'The preset sets this member. Leave it out, or use no preset.');
  }
  const { open: _, ...known } = preset;
  return { ...(known as Partial<NewProvider>), ...input };
}

/** Ends what waits for a provider, in the transaction that deletes it. Returns an act for each ended row. */
export type OnProviderDeleted = (tx: Tx, caller: Caller, providerId: string, at: Date) => Promise<Act[]>;

export const providerDeleted = hook<OnProviderDeleted>('provider deleted');
