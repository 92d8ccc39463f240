import { createHash } from 'node:crypto';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { AppError, oauthRefusal } from '../../../platform/errors.ts';
import { refuseDenied } from '../../grants/policies/index.ts';
import type { TokenDeps } from '../../grants/tokens/index.ts';
import {
  type AssertedTokens,
  assertableAgent,
  newAsserted,
  prepareAsserted,
} from '../../grants/tokens/index.ts';
import {
  type Asserted,
  findAsserted,
  identityOf,
  isCalledUnverified,
  isSignedByProvider,
} from '../../people/sso/index.ts';
import { recordBlockedAttempt } from '../../record/audit/index.ts';
import { isStopped } from './assertions.repo.ts';
import {
  actorIn,
  authenticationIn,
  bad,
  boundKeyIn,
  type Claims,
  mustBeMeant,
  mustBeTrusted,
  OtherSubject,
  readAssertion,
  type Timely,
  textIn,
} from './jwt.rules.ts';
import { narrowed, type RequestedLimits, resourcesFor, scopesOfGroups } from './limits.ts';
import { type AssertingClient, type Trusted, trustedFor } from './trust.ts';
import { currentGrantAt, writeAssertion } from './write.ts';

/** A form of the token endpoint with an assertion. */
interface AssertionForm {
  readonly assertion?: string | undefined;
  readonly scope?: string | undefined;
  readonly resource?: readonly string[] | undefined;
  readonly actor_token?: string | undefined;
  readonly authorization_details?: string | undefined;
}

/** The client that asks, and the key whose proof came with the request. */
interface RequestingClient extends AssertingClient {
  readonly caller: Caller;
  readonly keyThumbprint: string | undefined;
}

/** A token on the word of an identity provider. */
interface AssertedAnswer {
  readonly issued: AssertedTokens;
  /** The resources that the token is for; empty where it is for this service. */
  readonly resources: readonly string[];
}

/**
 * Issues a token because the identity provider of the client's developer has signed that this client may act for this
 * user. Nobody is asked. The checks come in a fixed order, and the first that fails answers.
 * @see draft-ietf-oauth-identity-assertion-authz-grant-04, section 4.4
 * @throws an OAuth error, or a refusal of the engine
 */
export async function issueAsserted(
  deps: AssertionDeps,
  client: RequestingClient,
  form: AssertionForm,
): Promise<AssertedAnswer> {
  const { assertion, scope, resource, actor_token: actor, authorization_details: details } = form;
  if (!assertion || actor !== undefined || details !== undefined) {
    throw oauthRefusal('invalid_request', 'assertion');
  }
  let connectionId: string | undefined;
  try {
    const claims = readAssertion(assertion);
    const { tenant } = client.caller;
    const issuer = claims.iss;
    const requested = { scope, resources: resource };
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      connectionId = undefined;
      const trusted = await trustedFor(deps.db, tenant, client, claims);
      connectionId = trusted.connection.id;
      if (!(await isSignedByProvider(deps, trusted.connection, { assertion, issuer })))
        throw bad('signature');
      const answer = await tryToIssue(deps, client, { assertion, claims, trusted, requested });
      if (answer) return answer;
    }
  } catch (error) {
    await recordRefusal(deps, client, error, connectionId);
    throw error;
  }
  throw new AppError('SERVICE_UNAVAILABLE', 'Too much changed at once; ask again.');
}

/** Each try reads afresh what had changed between the read and the write. */
const MAX_TRIES = 5;

interface Read {
  readonly assertion: string;
  readonly claims: Claims;
  readonly trusted: Trusted;
  readonly requested: RequestedLimits;
}

/** @returns undefined when a fact changed meanwhile */
async function tryToIssue(
  deps: AssertionDeps,
  client: RequestingClient,
  { assertion, claims, trusted, requested }: Read,
): Promise<AssertedAnswer | undefined> {
  const { caller, agentId } = client;
  const { tenant } = caller;
  const { connection, trust, rule } = trusted;
  const at = deps.clock();
  const timely = mustBeMeant(claims, {
    issuer: deps.issuer,
    clientId: client.clientId,
    now: at,
    longestSeconds: trust.longestSeconds,
  });
  mustBeTrusted(claims, { ...rule, tenant: trust.tenant, developerId: tenant.developerId, now: at });
  const resources = await resourcesFor(deps.db, tenant, trusted, claims, requested);
  mustPossess(client, claims, [
    rule.allowPublic && client.isPublic,
    ...resources.map((each) => each.dpopRequired),
  ]);
  const asserted = assertedIn(claims, timely);
  const find = () => findAsserted(deps.db, tenant, connection, asserted);
  // Another assertion may have linked the person between the reads, which then see an address or a user that is taken.
  const first = await find();
  const meant = first === undefined || first === 'other_subject' ? await find() : first;
  if (!meant) throw bad('unknown_user');
  if (meant === 'other_subject') throw new OtherSubject(identityOf(asserted));
  if (!meant.person.isActive) throw oauthRefusal('access_denied', 'inactive');

  const agent = await assertableAgent(deps, caller, agentId);
  if (agent?.agentStatus !== 'active') throw oauthRefusal('invalid_grant', 'agent');
  const groups = await scopesOfGroups(deps.db, tenant, trusted, claims, meant);
  const agentScopes = agent.enforceAgentScopes ? agent.agentScopes : null;
  const limits = narrowed({ trusted, claims, requested, groups, resources, agentScopes });
  const { principalId } = meant.person;
  const { agentDid } = agent;
  const question = { operation: 'id_jag', agentId, agentDid, principalId, scopes: limits.scopes } as const;
  const decision = await refuseDenied(deps, caller, { version: agent.policiesVersion, at }, question);
  // Nobody is asked here, so what a person has to approve is not given.
  if (decision.effect === 'require_approval') throw oauthRefusal('access_denied', 'policy');
  if (await isStopped(deps.db, tenant, { agentId, principalId }))
    throw oauthRefusal('access_denied', 'stopped');

  const audiences = resources.map((each) => each.resource).sort();
  const place = { connectionId: connection.id, agentId, principalId, audience: audiences.join(' ') };
  const held = await currentGrantAt(deps, caller, place, limits.ceiling, at);
  const grant =
    held.grant ??
    newAsserted(
      {
        ...limits.ceiling,
        ...{ agentId, agentDid, principalId, tokenSeconds: rule.tokenSeconds },
        audience: audiences.length > 0 ? place.audience : null,
      },
      at,
    );
  const tokenSeconds = Math.min(rule.tokenSeconds, ...resources.map((each) => each.tokenTtlSeconds));
  const act = actorIn(claims);
  const { jti, issuedAt: iat } = timely;
  const prepared = await prepareAsserted(
    deps,
    caller,
    {
      grant,
      isNew: held.grant === undefined,
      tokenSeconds,
      form: {
        scopes: limits.scopes,
        audience: grant.audience ?? deps.issuer,
        ...(limits.details && { details: limits.details }),
        ...authenticationIn(claims),
        ...(client.keyThumbprint !== undefined && { keyThumbprint: client.keyThumbprint }),
      },
      evidence: {
        connectionId: connection.id,
        clientRuleId: rule.id,
        assertion: {
          iss: claims.iss,
          jti,
          iat,
          sha256: digestOf(assertion),
          ...(act !== undefined && { act }),
        },
      },
      policiesVersion: decision.version,
    },
    at,
  );
  const isWritten = await writeAssertion(
    deps,
    caller,
    { trusted, asserted, meant, timely, place, held, grant, prepared },
    at,
  );
  return isWritten ? { issued: prepared.answer, resources: audiences } : undefined;
}

const digestOf = (assertion: string) => createHash('sha256').update(assertion).digest('base64url');

/** Row 11. @throws invalid_grant */
function mustPossess({ keyThumbprint }: RequestingClient, claims: Claims, demands: readonly boolean[]): void {
  const bound = boundKeyIn(claims);
  if (bound !== undefined && bound !== keyThumbprint) throw bad('possession');
  if (demands.includes(true) && keyThumbprint === undefined) throw bad('possession');
}

function assertedIn({ iss, all }: Claims, { subject }: Timely): Asserted {
  const { aud_sub: audSubject, tenant, email, name } = all;
  const isUnverified = isCalledUnverified(Object.entries(all));
  return {
    issuer: iss,
    subject,
    tenant: tenant === undefined ? undefined : String(tenant),
    audSubject: audSubject === undefined ? undefined : String(audSubject),
    email: isUnverified ? undefined : textIn(email),
    isUnverified,
    name: textIn(name),
  };
}

/** Rows 3 to 17. A provider that is away has decided nothing, so that is not among them. */
async function recordRefusal(
  { db, clock }: AssertionDeps,
  { caller, clientId, agentId }: RequestingClient,
  error: unknown,
  connectionId: string | undefined,
): Promise<void> {
  if (!(error instanceof AppError) || error.status >= 500) return;
  const { oauth } = Object(error.details);
  const reason = oauth === undefined ? error.code.toLowerCase() : error.message;
  const isOther = error instanceof OtherSubject;
  const why = isOther ? { reason: 'other_subject', subject: error.subject } : { reason };
  const data = { ...(connectionId !== undefined && { connectionId }), clientId, ...why };
  const attempt = {
    ...({ action: 'idjag.refused', about: { agentId }, data } as const),
    ...(isOther && ({ hasOwnEntry: true } as const)),
  };
  await inTransaction(db, (tx) => recordBlockedAttempt(tx, caller, attempt, clock()));
}

export interface AssertionDeps extends TokenDeps {
  /** The client for identity providers. */
  readonly upstream: Egress;
  /** Whether any are believed. */
  readonly acceptsAssertions: boolean;
}
