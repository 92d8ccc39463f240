import type { GrantHolder } from '../../../platform/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import { findDeclaredVersion } from '../../calls/decisions/index.ts';
import type { CallGate } from '../../calls/enforcement/index.ts';
import type { LendDeps } from '../credentials/index.ts';
import { valueAt } from './match.rules.ts';
import { block, type ReadyCall } from './plan.ts';
import { parametersOf } from './target.rules.ts';

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
export async function enforceRule(
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
