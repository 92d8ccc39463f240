import { distinctResources, isSameResource, namesResource } from '@behest/protocol/resource-uri';
import type { Caller, Proved, Tenant } from '../../../platform/caller.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import {
  type DelegateDeps,
  delegate,
  exchangeForResource,
  findGenuine,
  type LookUpDeps,
  lookUp,
  type ProofDeps,
  provedKey,
  type VerifiedClaims,
} from '../../grants/tokens/index.ts';
import { provesByKey } from './assertion.ts';
import type { AuthenticationDeps, Client, ClientRequest } from './client.ts';
import { subjectOf } from './credentials.rules.ts';
import { authenticateResource } from './introspect.ts';
import { rates } from './oauth.rates.ts';
import { findOAuthClientAcrossTenants } from './oauth.repo.ts';
import type { TokenRequest, TokenResponse } from './oauth.schema.ts';
import { detailsOf, fewerScopesOf, partFormatOf } from './request.rules.ts';

export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';
const SUBJECT_TYPES = new Set<string | undefined>([ACCESS_TOKEN, JWT]);
const LONGEST = 10; // digits of a number of seconds

type ExchangeDeps = AuthenticationDeps & DelegateDeps;

const invalid = (message: string) => oauthRefusal('invalid_request', message);

/**
 * Delegates a part of a grant to the client, or to the agent of the actor token. The limits are those of a native
 * delegation: the subject token takes the place of the parent's.
 * @see RFC 8693 §2
 * @throws an OAuth error, or a refusal of the engine
 */
export async function exchangeToken(
  deps: ExchangeDeps,
  client: Client,
  form: TokenRequest,
  keyThumbprint: string | undefined,
) {
  const subject = subjectIn(form);
  const at = deps.clock();
  const claims = findGenuine(deps, subject, at)?.verified.claims;
  if (!claims || claims.developerId !== client.caller.tenant.developerId) {
    throw oauthRefusal('invalid_grant', 'The subject token cannot be used.');
  }
  const actor = await actorOf(deps, client, form);
  mustBeAnother(claims, actor);
  mustKeepAudience(claims, form);
  const details = detailsOf(form.authorization_details);
  return delegate(
    deps,
    // The agent that shows the token of another acts with that agent's authority.
    { ...client.caller, agentIds: null },
    {
      parentGrantToken: subject,
      subAgentId: actor.agentId,
      scopes: [...(fewerScopesOf(form.scope) ?? claims.scopes)],
      expiresIn: `${secondsOf(form.expires_in)}s`,
      credentialFormat: partFormatOf(form),
      ...(details && { authorizationDetails: details }),
    },
    {
      requested: { ...(keyThumbprint !== undefined && { keyThumbprint }), bindsRefresh: client.isPublic },
      isByToken: client.isPublic, // its id is in links
    },
  );
}

/** @throws invalid_request */
function subjectIn(form: TokenRequest): string {
  const {
    subject_token: subject,
    subject_token_type: type,
    requested_token_type: wanted = ACCESS_TOKEN,
  } = form;
  if (!subject || !SUBJECT_TYPES.has(type))
    throw invalid('Send an access token as `subject_token`, with its type.');
  if (wanted !== ACCESS_TOKEN) throw invalid('The only token that is issued here is an access token.');
  return subject;
}

interface ActingAgent {
  readonly agentId: string;
  readonly agentDid: string;
}

/** @throws invalid_request, invalid_grant */
async function actorOf(
  deps: ExchangeDeps,
  { caller, agentId, agentDid }: Client,
  { actor_token: token, actor_token_type: type }: TokenRequest,
): Promise<ActingAgent> {
  if (token === undefined && type === undefined) return { agentId, agentDid };
  if (token && type === JWT) return assertedActor(deps, caller.tenant, token);
  if (!token || type !== ACCESS_TOKEN)
    throw invalid('Send an access token or an assertion as `actor_token`, with its type.');
  const { row, reason } = (await lookUp(deps, { ...caller, agentIds: null }, token)) ?? {};
  if (!row || reason || row.keyThumbprint !== null) {
    throw oauthRefusal('invalid_grant', 'The actor token cannot be used.');
  }
  return { agentId: row.agentId, agentDid: row.agentDid };
}

/** Another agent of the developer, which says by its own key that it acts, in a JWT that does not authenticate it. */
async function assertedActor(
  deps: ExchangeDeps,
  { developerId }: Tenant,
  assertion: string,
): Promise<ActingAgent> {
  const found = await findOAuthClientAcrossTenants(deps.db, subjectOf(assertion, 'invalid_grant'));
  const isOwn = found?.developerId === developerId && found.authMethod === 'private_key_jwt';
  const keys = isOwn && found.publicKeyJwk !== null ? [Object(found.publicKeyJwk)] : [];
  if (!isOwn || !(await provesByKey(deps, { clientId: found.agentId, assertion, keys, isActor: true }))) {
    throw oauthRefusal('invalid_grant', 'The actor token cannot be used.');
  }
  return { agentId: found.agentId, agentDid: found.agentDid };
}

/** @throws invalid_request */
function mustBeAnother({ agentDid, delegatedBy }: VerifiedClaims, actor: ActingAgent): void {
  if (agentDid !== actor.agentDid && !delegatedBy.includes(actor.agentDid)) return;
  throw invalid('The actor is an agent of the subject token already.');
}

/** @throws invalid_target */
function mustKeepAudience({ audience }: VerifiedClaims, form: TokenRequest): void {
  const named = [...(form.resource ?? []), ...(form.audience === undefined ? [] : [form.audience])];
  const wanted = distinctResources(named);
  const own = [audience ?? []].flat();
  const isOwn = wanted.length === own.length && wanted.every((each) => namesResource(own, each));
  if (wanted.length === 0 || isOwn) return;
  throw oauthRefusal('invalid_target', 'A delegated token has the audience of its parent; leave it out.');
}

/** @throws invalid_request */
function secondsOf(text: string | undefined): number {
  if (text === undefined) return 3600;
  if (!/^[1-9]\d*$/.test(text) || text.length > LONGEST)
    throw invalid('`expires_in` is a number of seconds.');
  return Number(text);
}

type ResourceDeps = AuthenticationDeps & LookUpDeps & ProofDeps;

/** The credential of a resource, where a request shows one in place of a client. */
export const resourceCredentialIn = ({ authorization }: ClientRequest): string | undefined =>
  /^Bearer +(bh_res_\S+)$/i.exec(authorization ?? '')?.[1];

/**
 * Exchanges a token that a resource received, which it must not pass on, for one by which it gets the credential of the
 * principal from the vault. A bound token needs no proof here: only the resource could have checked it.
 * @see RFC 8693 §2
 * @throws an OAuth error
 */
export async function issueToResource(
  deps: ResourceDeps,
  form: TokenRequest,
  { request, credential, proof }: { request: ClientRequest; credential: string; proof: Proved },
): Promise<{ answer: TokenResponse; caller: Caller }> {
  const party = await authenticateResource(deps, credential, request);
  if (!party) throw oauthRefusal('invalid_client', 'The resource is not known, or is not authenticated.');
  const { caller, server } = party;
  await deps.chargeClient(rates.oauthToken, { client: server.resource });
  const subject = subjectIn(form);
  const { actor_token: actor, authorization_details: details, expires_in: seconds } = form;
  if (actor !== undefined || details !== undefined) {
    throw oauthRefusal(
      'invalid_request',
      'A resource sends neither `actor_token` nor `authorization_details`.',
    );
  }
  mustNameService(form, deps.issuer);
  const keyThumbprint = await provedKey(deps, proof);
  const issued = await exchangeForResource(deps, caller, {
    subject,
    resource: server,
    scopes: fewerScopesOf(form.scope),
    seconds: seconds === undefined ? undefined : secondsOf(seconds),
    keyThumbprint,
  });
  const answer = {
    access_token: issued.grantToken,
    issued_token_type: ACCESS_TOKEN,
    token_type: keyThumbprint === undefined ? ('Bearer' as const) : ('DPoP' as const),
    expires_in: Math.floor((Date.parse(issued.expiresAt) - deps.clock().getTime()) / 1000),
    scope: issued.scopes.join(' '),
    'urn:service:grant': { grant_id: issued.grantId },
  };
  return { answer, caller };
}

/** @throws invalid_target */
function mustNameService({ resource = [], audience }: TokenRequest, issuer: string): void {
  const wanted = [...resource, ...(audience === undefined ? [] : [audience])];
  if (wanted.every((each) => isSameResource(each, issuer))) return;
  throw oauthRefusal('invalid_target', 'The token of a resource is for this service alone; leave it out.');
}
