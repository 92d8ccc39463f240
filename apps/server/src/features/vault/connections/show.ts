import { brandingIn } from '../../accounts/developers/developers.queries.ts';
import { type FrozenClient, findReplaced, type NewTokens } from '../credentials/index.ts';
import { foundOf, getProviderRow, settingsOf } from '../providers/index.ts';
import { gone } from './ask.ts';
import type { ShownRow } from './connections.repo.ts';
import type { ConnectPage } from './connections.schema.ts';
import type { ConnectDeps } from './deps.ts';

/** The facts of the page: the developer, the person, the account and the scopes. @throws GONE when the provider is no more */
export async function shownConnect(deps: ConnectDeps, row: ShownRow): Promise<ConnectPage> {
  const tenant = { developerId: row.developerId };
  const provider = await getProviderRow(deps.db, tenant, row.providerId);
  if (!provider) throw gone('cancelled');
  const { required } = settingsOf(provider).scopes;
  const before = await findReplaced(deps.db, { tenant }, row);
  const result = resultOf(row);
  const had = before?.facts;
  return {
    developerName: row.developerName,
    ...brandingIn(row),
    principalId: row.principalId,
    agentName: row.agentName,
    providerName: provider.name,
    service: row.service,
    authorizationHost: new URL(foundOf(provider).authorizationEndpoint).host,
    scopes: row.scopes.map((scope) => ({
      scope,
      required: required.includes(scope),
      new: !had?.scopesGranted.includes(scope),
    })),
    current: had ? { accountLabel: labelOf(had.account), scopes: [...had.scopesGranted] } : null,
    result: result
      ? {
          accountLabel: labelOf(result.account),
          accountKnown: result.account !== null,
          replaces: mustAllowReplacing(before, result.account),
          scopesGranted: [...result.scopesGranted],
          missing: result.requiredScopes.filter((scope) => !result.scopesGranted.includes(scope)),
        }
      : null,
    expiresAt: row.expiresAt.toISOString(),
    sandbox: row.mode === 'sandbox',
  };
}

type Account = { readonly id: string; readonly label: string | null } | null;

const labelOf = (account: Account): string | null => account && (account.label ?? account.id);

type Before = Awaited<ReturnType<typeof findReplaced>>;

/** Another account than before, and a credential that was stored by API, give way only if the person says so. */
export function mustAllowReplacing(before: Before, account: Account): boolean {
  if (!before) return false;
  return before.facts === undefined || before.facts.account?.id !== account?.id;
}

/** The tokens that the upstream gave, sealed in the session's row until the person confirms. */
export interface Returned {
  readonly tokens: NewTokens;
  readonly frozen: FrozenClient;
}

/** The facts that the page tells of it. No member is secret. */
export interface Result {
  readonly account: { readonly id: string; readonly label: string | null } | null;
  readonly scopesAsked: readonly string[];
  readonly scopesGranted: readonly string[];
  readonly requiredScopes: readonly string[];
  /** The times at which the tokens end, counted from the answer. */
  readonly tokenExpiresAt: string | null;
  readonly refreshTokenExpiresAt: string | null;
}

export const resultOf = ({ result }: { readonly result: unknown }): Result | undefined =>
  result === null ? undefined : Object(result); // stored by this service
