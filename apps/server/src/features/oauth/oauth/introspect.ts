import { namesResource } from '@behest/protocol/resource-uri';
import type { Caller } from '../../../platform/caller.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { hashOf } from '../../../platform/ids.ts';
import { findKeyCaller } from '../../accounts/developers/index.ts';
import { resourceServerAcrossTenants } from '../../grants/resources/resources.queries.ts';
import {
  introspectToken,
  type LookUpDeps,
  revokeByRefreshToken,
  revokeToken,
  type TokenIntrospection,
} from '../../grants/tokens/index.ts';
import { type AuthenticationDeps, authenticateAboutToken, type ClientRequest } from './client.ts';
import { rates } from './oauth.rates.ts';
import type { TokenReference } from './oauth.schema.ts';
import { isReceiver, revokeOfReceiver } from './receiver.ts';
import { withoutDeveloper } from './tenant.ts';

export interface QuestionDeps extends AuthenticationDeps, LookUpDeps {}

interface AuthenticatedCaller {
  readonly caller: Caller;
  /** The server that asks, whose tokens have its URI as audience. */
  readonly resource?: string;
}

/**
 * Tells a resource, a client or a developer about a token. Another's token reads as an unknown one.
 * @see RFC 7662 §2
 * @throws invalid_client, invalid_request, RATE_LIMITED
 */
export async function introspect(
  deps: QuestionDeps,
  { token }: TokenReference,
  request: ClientRequest,
): Promise<{ answer: TokenIntrospection; caller?: Caller }> {
  const party = await authenticateCaller(deps, request);
  if (!token) throw oauthRefusal('invalid_request', 'Send `token`.');
  if (!party) return { answer: { active: false } };
  const { caller, resource } = party;
  const found = await introspectToken(deps, caller, token);
  const isForOther = resource !== undefined && !namesResource(found.aud, resource);
  return { answer: isForOther ? { active: false } : found, caller };
}

/** @returns undefined for a client whose token names no developer */
async function authenticateCaller(
  deps: QuestionDeps,
  request: ClientRequest,
): Promise<AuthenticatedCaller | undefined> {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(request.authorization ?? '') ?? [];
  if (bearer === undefined) {
    return authenticateAboutToken(deps, request, rates.oauthIntrospect);
  }
  const party = bearer.startsWith('bh_res_')
    ? await authenticateResource(deps, bearer, request)
    : await authenticateApiKey(deps, bearer, request);
  if (!party) throw oauthRefusal('invalid_client', 'Send a client, a resource credential or an API key.');
  const { caller, resource } = party;
  await deps.chargeClient(rates.oauthIntrospect, { client: resource ?? caller.tenant.developerId });
  return party;
}

/** A resource that shows its credential, which begins with `bh_res_`. */
export async function authenticateResource(
  { db }: Pick<QuestionDeps, 'db'>,
  credential: string,
  { requestId, address }: ClientRequest,
): Promise<
  | (AuthenticatedCaller & { readonly server: { readonly resourceId: string; readonly resource: string } })
  | undefined
> {
  const found = await resourceServerAcrossTenants(db, hashOf(credential));
  if (!found) return undefined;
  const { developerId, resourceId, resource, mode, plan } = found;
  const actor = `resource:${resourceId}`;
  const tenant = { developerId };
  return {
    resource,
    server: { resourceId, resource },
    caller: { tenant, agentIds: null, actor, role: 'runtime', mode, plan, requestId, address },
  };
}

async function authenticateApiKey(
  deps: QuestionDeps,
  apiKey: string,
  { requestId, address }: ClientRequest,
): Promise<AuthenticatedCaller | undefined> {
  const found = await findKeyCaller(deps, hashOf(apiKey));
  return found && { caller: { ...found.caller, requestId, address } };
}

/**
 * Ends an access token with what was delegated with it, or the grant of a refresh token. A receiver of signals ends its own
 * access token. Unknown and foreign tokens are answered alike.
 * @see RFC 7009 §2
 * @throws invalid_client, invalid_request, SERVICE_UNAVAILABLE
 */
export async function revoke(
  deps: QuestionDeps,
  { token }: TokenReference,
  request: ClientRequest,
): Promise<void> {
  if (isReceiver(request)) return revokeOfReceiver(deps, token, request);
  const client = await authenticateAboutToken(deps, request, rates.oauthRevoke);
  if (!token) throw oauthRefusal('invalid_request', 'Send `token`.');
  if (!client) return;
  const { caller, described } = client;
  if (token.startsWith('ref_')) {
    return revokeByRefreshToken(deps, caller, described ? withoutDeveloper(token) : token);
  }
  await revokeToken(deps, caller, { token }).catch((error: unknown) => {
    if (Object(error).code !== 'NOT_FOUND') throw error;
  });
}
