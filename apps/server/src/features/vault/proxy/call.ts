import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ProxyRule } from '@behest/protocol/proxy-rules';
import { concerning } from '../../../platform/acts.ts';
import type { GrantHolder } from '../../../platform/caller.ts';
import type { ChargeCredential } from '../../../platform/charge.ts';
import { AppError, grantTokenRefused, unavailable } from '../../../platform/errors.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { newId } from '../../../platform/ids.ts';
import { findDeclaredVersion } from '../../calls/decisions/index.ts';
import type { CallGate } from '../../calls/enforcement/index.ts';
import { prepareActs } from '../../record/audit/index.ts';
import { type LendDeps, type Lent, lend, matchingScope } from '../credentials/index.ts';
import { bodyFor, type SentBody } from './body.ts';
import { writeCall } from './calls.repo.ts';
import { scopeFor, valueAt } from './match.rules.ts';
import { block, type ProxyRequest, planOf, type ReadyCall } from './plan.ts';
import type { ProxyBounds } from './profile.rules.ts';
import { badRequest, framingOf, sentHeaders } from './request.rules.ts';
import { type ProxyAnswer, type SendDeps, sendOn } from './send.ts';
import type { Flights } from './streams.ts';
import { parametersOf, readTarget } from './target.rules.ts';

export interface ProxyDeps extends LendDeps, EnforcingDeps, SendDeps {
  readonly bounds: ProxyBounds;
  readonly flights: Flights;
  readonly chargeCredential: ChargeCredential;
}

const ATTEMPTS = 4; // a profile or a credential that is changed meanwhile is read again

/**
 * Sends the agent's request to the upstream of a service, with the principal's credential, and returns the answer. The
 * entry is committed before anything is sent.
 * @throws the refusals in their order, each before the next is looked at
 */
export async function callUpstream(
  deps: ProxyDeps,
  holder: GrantHolder,
  request: ProxyRequest,
): Promise<ProxyAnswer> {
  const end = deps.flights.begin(holder);
  try {
    const answer = await passOn(deps, holder, request);
    answer.onEnd(end);
    return answer;
  } catch (error) {
    end();
    throw error;
  }
}

async function passOn(deps: ProxyDeps, holder: GrantHolder, request: ProxyRequest): Promise<ProxyAnswer> {
  const { service, method } = request;
  const headers = sentHeaders(request.rawHeaders);
  const framing = framingOf({ method, headers });
  const target = readTarget(request.tail);
  if (!target) {
    throw badRequest(
      'The path or the query could be read in two ways; send it without dots, doubles and escapes.',
    );
  }
  const matchedScope = scopeFor(holder.scopes, matchingScope(holder.scopes, service), { service, method });
  if (matchedScope === undefined) {
    await block(deps, holder, { service, reason: 'scope' });
    throw new AppError('FORBIDDEN', 'The grant has no scope for the proxy of this service.', {
      reason: 'scope',
    });
  }
  let read: { readonly body: SentBody; readonly rule: ProxyRule; readonly maxBytes: number } | undefined;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const plan = await planOf(deps, holder, { service, method, upstream: framing.upstream, target });
    await deps.chargeCredential(rates.vaultProxyCredential, plan.row.id, plan.profile.perMinute);
    const maxBytes = Math.min(
      deps.bounds.maxRequestBytes,
      plan.profile.maxRequestBytes ?? Number.POSITIVE_INFINITY,
    );
    // A body is read once, and as its rule wants it. It serves no other rule, and no smaller limit.
    if (read && !(isDeepStrictEqual(read.rule, plan.rule) && maxBytes >= read.maxBytes)) break;
    read ??= {
      body: await bodyFor(plan.rule, framing, { body: request.body, maxBytes }),
      rule: plan.rule,
      maxBytes,
    };
    const call = { request, headers, framing, matchedScope, plan, body: read.body };
    const answer = await enforceAndSend(deps, holder, call);
    if (answer) return answer;
  }
  throw unavailable('db');
}

/** @returns undefined when the profile or the credential was changed meanwhile: nothing was sent */
async function enforceAndSend(
  deps: ProxyDeps,
  holder: GrantHolder,
  call: ReadyCall,
): Promise<ProxyAnswer | undefined> {
  const callId = newId('pcall', deps.clock());
  const enforced = await enforceRule(deps, holder, callId, call);
  let isSent = false;
  try {
    const { service } = call.request;
    const lent = await lend(deps, holder, service, call.plan.row);
    if (!lent) return undefined;
    if (!(await recordCall(deps, holder, callId, call, lent))) return undefined;
    return await sendOn(
      {
        ...deps,
        recordAgain: (again) => recordCall(deps, holder, callId, call, again),
        onSent() {
          isSent = true;
          if (enforced) void deps.gate.noteSent(holder, callId);
        },
      },
      holder,
      { ...call, callId, lent },
    );
  } finally {
    if (enforced && !isSent) await deps.gate.giveBack(holder, callId);
  }
}

/**
 * Writes the entry of a call that is about to be sent.
 * @returns false when the profile or the credential was changed meanwhile
 * @throws UNAUTHORIZED when the grant ended meanwhile, SERVICE_UNAVAILABLE when the entry cannot be written
 */
async function recordCall(
  { db, clock }: ProxyDeps,
  holder: GrantHolder,
  callId: string,
  { request, framing, matchedScope, plan }: ReadyCall,
  { row }: Lent,
): Promise<boolean> {
  const { service, method } = request;
  const { upstream, rule, profileVersion, target } = plan;
  const { tenant, tokenId, agentId, grantId } = holder;
  const at = clock();
  const tool = rule.tool && `${rule.tool.connector}/${rule.tool.tool}`;
  const named = {
    callId,
    credentialId: row.id,
    service,
    upstream,
    method,
    rule: rule.id,
    ...(tool && { tool }),
  };
  const pathHash = createHash('sha256').update(target.path).digest('hex');
  const { length, hasBody } = framing;
  const evidence = {
    ...{ profileVersion, pathHash, jti: tokenId, matchedScope },
    ...(hasBody && length !== undefined && { requestBytes: length }),
  };
  const acts = [{ ...concerning(holder), type: 'vault.proxy.called', data: named, evidence } as const];
  const records = prepareActs(holder, acts, at);
  const written = {
    ...named,
    tokenId,
    agentId,
    grantId,
    credentialVersion: String(row.version),
    profileVersion,
  };
  const lost = await writeCall(db, tenant, at, { call: written, records }).catch((error: unknown) => {
    throw Object.assign(unavailable('db'), { cause: error });
  });
  if (lost === 'token_ended') throw grantTokenRefused();
  return lost === null;
}

export interface EnforcingDeps extends LendDeps {
  readonly gate: CallGate;
}

/** No case of this form exists, so a tool with a cap per case denies the call. */
const NO_CASE = '';

/**
 * Enforces the tool that the request stands for, if it stands for one.
 * @returns whether the call may hold units, which have to be given back when nothing is sent
 * @throws PROXY_DENIED
 */
async function enforceRule(
  deps: EnforcingDeps,
  holder: GrantHolder,
  callId: string,
  { request, framing, plan, body }: ReadyCall,
): Promise<boolean> {
  const { rule, upstream, named, target } = plan;
  const { tool } = rule;
  if (!tool) return false;
  const { connector, tool: name, resource, amount, body: mode = 'none' } = tool;
  const query = parametersOf(target.query).map((parameter) => [parameter.name, parameter.value]);
  const { decisionGrants } = framing;
  const call = {
    ...{ grantToken: request.grantToken, connector, tool: name, callId, reserve: true },
    arguments: { method: request.method, upstream, path: target.path, query, body: body.value },
    ...(resource !== undefined && { resource: named[resource.slice(1, -1)] ?? '' }),
    ...(amount !== undefined && { amount: valueAt(body.value, amount) ?? null }),
    ...(framing.caseId !== undefined && (await caseOf(deps, holder, framing.caseId))),
    // Nobody approves a body that nobody reads.
    ...(decisionGrants && mode !== 'stream' && { decisionGrants: [...decisionGrants] }),
  };
  const result = await deps.gate.enforce(holder, call, `{"body":${body.text ?? 'null'}}`);
  if (result.allowed) return true;
  const { service } = request;
  await block(deps, holder, { service, reason: 'enforcement' });
  const { reason_code, sub_reason, details } = result;
  throw new AppError('PROXY_DENIED', 'The grant does not allow this call.', {
    reason: 'enforcement',
    details: { reason_code, sub_reason, details },
  });
}

/** The agent does not choose its cases: it would get new caps with each of them. */
async function caseOf({ db }: EnforcingDeps, { tenant, grantId }: GrantHolder, caseId: string) {
  const caseVersion = await findDeclaredVersion(db, { tenant, grantId, caseId });
  return caseVersion === undefined ? { caseId: NO_CASE } : { caseId, caseVersion };
}

export const rates = rateRules({
  vaultProxy: {
    perMinute: 120,
    describes: 'calls through the vault proxy, by grant token',
    counts: [{ by: 'token' }],
  },
  vaultProxyCredential: {
    perMinute: 600,
    describes: 'calls through the vault proxy, by credential',
    counts: [{ by: 'credential' }],
  },
});
