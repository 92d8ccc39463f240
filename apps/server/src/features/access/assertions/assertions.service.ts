import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { uncovered } from '@behest/protocol/scopes';
import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError, oauthRefusal } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { heldAgent } from '../../accounts/agents/agents.queries.ts';
import { lockPeople } from '../../people/scim/index.ts';
import {
  type Asserted,
  findAsserted,
  isSignedByProvider,
  type MeantPerson,
  settleAsserted,
} from '../../people/sso/index.ts';
import { recordActs, recordBlockedAttempt } from '../../record/audit/index.ts';
import { findGrant, type GrantRow } from '../grants/grants.queries.ts';
import { revokeGrantWithin } from '../grants/index.ts';
import { refuseDenied } from '../policies/index.ts';
import {
  type Assertable,
  type AssertedTokens,
  assertableAgent,
  heldAsserted,
  newAsserted,
  type PreparedAssertion,
  prepareAsserted,
  writeAsserted,
} from '../tokens/index.ts';
import type { AssertionDeps } from './assertions.deps.service.ts';
import { findStanding, isStopped, putStanding, type StandingRow } from './assertions.grants.repo.ts';
import {
  actorIn,
  bad,
  boundKeyIn,
  type Claims,
  mustBeMeant,
  mustBeTrusted,
  readAssertion,
  type Timely,
  textIn,
} from './assertions.jwt.rules.ts';
import {
  type Narrowed,
  narrowed,
  resourcesFor,
  scopesOfGroups,
  type Wish,
} from './assertions.limits.service.ts';
import { lockRule, shareRule, useOnce } from './assertions.repo.ts';
import { type AssertingClient, type Trusted, trustedFor } from './assertions.trusted.service.ts';

/** A form of the token endpoint with an assertion. */
export interface AssertionForm {
  readonly assertion?: string | undefined;
  readonly scope?: string | undefined;
  readonly resource?: readonly string[] | undefined;
  readonly actor_token?: string | undefined;
  readonly authorization_details?: string | undefined;
}

/** The client that asks, and the key whose proof came with the request. */
export interface Asking extends AssertingClient {
  readonly caller: Caller;
  readonly keyThumbprint: string | undefined;
}

/** A token on the word of an identity provider. */
export interface AssertedAnswer {
  readonly issued: AssertedTokens;
  /** The resources that the token is for; empty where it is for this service. */
  readonly resources: readonly string[];
}

/**
 * Issues a token because the identity provider of the client's developer has signed that this client may act for this
 * user. Nobody is asked. The checks come in the order of the contract, and the first that fails answers.
 * @see draft-ietf-oauth-identity-assertion-authz-grant-04, section 4.4
 * @throws an OAuth error, or a refusal of the engine
 */
export async function issueAsserted(
  deps: AssertionDeps,
  client: Asking,
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
    const wish = { scope, resources: resource };
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const trusted = await trustedFor(deps.db, tenant, client, claims);
      connectionId = trusted.connection.id;
      if (!(await isSignedByProvider(deps, trusted.connection, { assertion, issuer })))
        throw bad('signature');
      const answer = await tryToIssue(deps, client, { assertion, claims, trusted, wish });
      if (answer) return answer;
    }
  } catch (error) {
    await recordRefusal(deps, client, error, connectionId);
    throw error;
  }
  throw new AppError('SERVICE_UNAVAILABLE', 'Too much changed at once; ask again.');
}

/** Each try reads afresh what had changed between the read and the write. */
const MOST_TRIES = 5;

interface Read {
  readonly assertion: string;
  readonly claims: Claims;
  readonly trusted: Trusted;
  readonly wish: Wish;
}

/** @returns undefined when a fact changed meanwhile */
async function tryToIssue(
  deps: AssertionDeps,
  client: Asking,
  { assertion, claims, trusted, wish }: Read,
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
  const resources = await resourcesFor(deps.db, tenant, trusted, claims, wish);
  mustPossess(client, claims, [
    rule.allowPublic && client.isPublic,
    ...resources.map((each) => each.dpopRequired),
  ]);
  const asserted = assertedIn(claims, timely);
  const find = () => findAsserted(deps.db, tenant, connection, asserted);
  // Another assertion may have linked the person between the reads, which then see an address that is taken.
  const meant = (await find()) ?? (await find());
  if (!meant) throw bad('unknown_user');
  if (!meant.person.isActive) throw oauthRefusal('access_denied', 'inactive');

  const agent = await assertableAgent(deps, caller, agentId);
  if (agent?.agentStatus !== 'active') throw oauthRefusal('invalid_grant', 'agent');
  const groups = await scopesOfGroups(deps.db, tenant, trusted, claims, meant);
  const agentScopes = agent.enforceAgentScopes ? agent.agentScopes : null;
  const limits = narrowed({ trusted, claims, wish, groups, resources, agentScopes });
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
  const held = await standingAt(deps, caller, place, limits.ceiling, at);
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
  const isWritten = await write(
    deps,
    caller,
    { trusted, asserted, meant, timely, place, held, grant, prepared },
    at,
  );
  return isWritten ? { issued: prepared.answer, resources: audiences } : undefined;
}

const digestOf = (assertion: string) => createHash('sha256').update(assertion).digest('base64url');

/** Row 11. @throws invalid_grant */
function mustPossess({ keyThumbprint }: Asking, claims: Claims, demands: readonly boolean[]): void {
  const bound = boundKeyIn(claims);
  if (bound !== undefined && bound !== keyThumbprint) throw bad('possession');
  if (demands.includes(true) && keyThumbprint === undefined) throw bad('possession');
}

function assertedIn({ iss, all }: Claims, { subject }: Timely): Asserted {
  const { aud_sub: audSubject, email, name } = all;
  return {
    issuer: iss,
    subject,
    audSubject: audSubject === undefined ? undefined : String(audSubject),
    email: textIn(email),
    name: textIn(name),
  };
}

/** The standing grant of a place, as it was read. */
interface Held {
  readonly row: StandingRow | undefined;
  /** Absent where there is none, where it ended, and where the ceiling has changed since. */
  readonly grant: Assertable | undefined;
  /** The grant that a new one takes the place of. */
  readonly superseded: GrantRow | undefined;
}

type Place = Pick<StandingRow, 'connectionId' | 'agentId' | 'principalId' | 'audience'>;

async function standingAt(
  { db }: AssertionDeps,
  { tenant }: Caller,
  place: Place,
  ceiling: Narrowed['ceiling'],
  at: Date,
): Promise<Held> {
  const row = await findStanding(db, tenant, place);
  const found = row && (await findGrant(db, { tenant, agentIds: null }, row.grantId));
  const live = found?.status === 'active' && found.expiresAt > at ? found : undefined;
  const fits = live && isCeiling(live, ceiling);
  return {
    row,
    grant: fits ? heldAsserted(live) : undefined,
    superseded: fits ? undefined : live,
  };
}

const isCeiling = (
  { scopes, authorizationDetails, manifests }: GrantRow,
  ceiling: Narrowed['ceiling'],
): boolean =>
  uncovered(scopes, ceiling.scopes).length === 0 &&
  uncovered(ceiling.scopes, scopes).length === 0 &&
  isDeepStrictEqual(authorizationDetails ?? [], ceiling.details) &&
  isDeepStrictEqual(manifests ?? null, ceiling.manifests);

interface Writing {
  readonly trusted: Trusted;
  readonly asserted: Asserted;
  readonly meant: MeantPerson;
  readonly timely: Timely;
  readonly place: Place;
  readonly held: Held;
  readonly grant: Assertable;
  readonly prepared: PreparedAssertion;
}

/**
 * Row 18: one transaction uses the assertion, links the person where that is needed, finds or makes the grant, and writes
 * token and entries. Locks are taken in one order: people, agent, rule, and then those of every grant.
 * @returns whether it was written: not, when a fact is no longer as it was read
 */
function write(deps: AssertionDeps, caller: Caller, writing: Writing, at: Date): Promise<boolean> {
  const { tenant } = caller;
  const { trusted, asserted, meant, timely, place, held, grant, prepared } = writing;
  const { connection, rule } = trusted;
  return inTransaction(deps.db, async (tx) => {
    const used = { connectionId: connection.id, jti: timely.jti, expiresAt: timely.expiresAt };
    if (!(await useOnce(tx, tenant, used, at))) throw bad('replayed');
    const acts: Act[] = [];
    if (meant.needs !== 'nothing') {
      await lockPeople(tx, tenant);
      const now = await findAsserted(tx, tenant, connection, asserted);
      if (!isDeepStrictEqual(now, meant)) throw CHANGED;
      acts.push(...(await settleAsserted(tx, caller, connection, { asserted, meant }, at)));
    }
    await heldAgent(tx, tenant, place.agentId);
    const current = await (held.grant ? shareRule : lockRule)(tx, tenant, rule.id);
    const standing = await findStanding(tx, tenant, place);
    if (current?.version !== rule.version || standing?.grantId !== held.row?.grantId) throw CHANGED;
    const isStoppedNow = await isStopped(tx, tenant, place);
    if (isStoppedNow) throw oauthRefusal('access_denied', 'stopped');
    if (held.superseded) {
      const why = { reason: 'superseded' } as const;
      acts.push(...(await revokeGrantWithin(tx, caller, held.superseded.id, why, at)));
    }
    if (!(await writeAsserted(tx, caller, prepared, at))) throw CHANGED;
    if (!held.grant) {
      const id = newId('ids', at);
      await putStanding(tx, tenant, { ...place, id, ruleId: rule.id, grantId: grant.id, createdAt: at });
    }
    await recordActs(tx, caller, [...acts, ...prepared.acts], at);
    return true;
  }).catch((error: unknown) => {
    if (error === CHANGED) return false; // nothing was written
    throw error;
  });
}

/** Rolls a write back that has to be prepared again. */
const CHANGED = new Error('A fact changed between the read and the write of an assertion.');

/** Rows 3 to 17. A provider that is away has decided nothing, so that is not among them. */
async function recordRefusal(
  { db, clock }: AssertionDeps,
  { caller, clientId, agentId }: Asking,
  error: unknown,
  connectionId: string | undefined,
): Promise<void> {
  if (!(error instanceof AppError) || error.status >= 500) return;
  const { oauth } = Object(error.details);
  const reason = oauth === undefined ? error.code.toLowerCase() : error.message;
  const data = { ...(connectionId !== undefined && { connectionId }), clientId, reason };
  const attempt = { action: 'idjag.refused', about: { agentId }, data } as const;
  await inTransaction(db, (tx) => recordBlockedAttempt(tx, caller, attempt, clock()));
}
