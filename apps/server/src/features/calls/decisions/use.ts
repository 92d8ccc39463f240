import { hash } from 'node:crypto';
import { canonicalJson } from '@behest/protocol/canonical-json';
import { type Action, actionHash } from '@behest/protocol/enforcement/action';
import { checkDecision } from '@behest/protocol/enforcement/decision-check';
import { readDecisionClaims } from '@behest/protocol/enforcement/decision-claims';
import { createDecisionVerifier } from '@behest/protocol/enforcement/decision-verifier';
import type {
  DecisionMove,
  DecisionMoved,
  DecisionStore,
  MoveRefusal,
} from '@behest/protocol/enforcement/ports';
import type { Caller } from '../../../platform/caller.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import { holdAgentStanding } from '../../accounts/agents/agents.queries.ts';
import { holdGrant } from '../../grants/grants/grants.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { signToken, verifySignature } from '../../service/keys/index.ts';
import type { DecisionDeps, OpenDecisions } from '../enforcement/index.ts';
import { aboutOf, type DecisionsDeps, factsOf, refusedUse } from './decisions.acts.ts';
import {
  type ApprovalRow,
  type DecisionRow,
  findDecision,
  listApprovals,
  lockDecision,
  updateDecision,
} from './decisions.repo.ts';
import { GRANT_SECONDS, nextUse, statusAt } from './decisions.rules.ts';
import type { ConsumeDecisionRequest, ConsumeDecisionResult } from './decisions.schema.ts';
import { ended } from './end.ts';

type Outcome = DecisionMoved | { readonly ok: false; readonly reason: MoveRefusal };

/** The decisions of a caller, as the engine asks them. Each step is a transaction of its own. */
export const openDecisions: OpenDecisions = (deps, caller) => {
  const { verify } = createDecisionVerifier({
    keys: () => deps.keyRing.verificationKeys(),
    issuer: deps.issuer,
    verifySignature,
    now: deps.clock,
  });
  const store: DecisionStore = { verify, move: (request) => moveGrants(deps, caller, store, request) };
  return store;
};

async function moveGrants(
  deps: DecisionDeps,
  caller: Caller,
  store: DecisionStore,
  request: DecisionMove,
): Promise<Outcome> {
  const jtis: string[] = [];
  let decisionId = '';
  for (const jwt of request.decisionGrants) {
    const verified = await store.verify(jwt);
    const claims = verified.ok ? readDecisionClaims(verified.payload) : undefined;
    if (!claims || (decisionId !== '' && decisionId !== claims.decisionId)) return refuse('malformed');
    decisionId = claims.decisionId;
    jtis.push(claims.jti);
  }
  const actual = await actionHash(request.action);
  // The step stands also when the request that takes it is rolled back, or another request could take it again.
  const own: Executor = deps.db.isTransaction ? deps.aside : deps.db;
  return inTransaction(own, (tx) =>
    moveLocked(deps, tx, caller, { ...request, decisionId, jtis, hash: actual }),
  );
}

const refuse = (reason: MoveRefusal) => ({ ok: false, reason }) as const;

interface Move extends DecisionMove {
  readonly decisionId: string;
  readonly jtis: readonly string[];
  readonly hash: string;
}

/** Checks again what was checked before the lock, and takes the step. */
async function moveLocked({ clock }: DecisionDeps, tx: Tx, caller: Caller, move: Move): Promise<Outcome> {
  const at = clock();
  const row = await lockDecision(tx, caller.tenant, move.decisionId);
  if (!row) return refuse('unknown_grant');
  if (row.actionHash !== move.hash) return refuse('action_mismatch');
  const status = statusAt(row, at);
  // Also by the clock of an instance that is ahead of this one.
  if (row.expiresAt <= at || status === 'expired') return refuse('expired');
  if (status === 'pending') return refuse('four_eyes_incomplete');
  if (status !== 'approved' && status !== 'consumed') return refuse('revoked');
  const approvals = await listApprovals(tx, caller.tenant, [row.id]);
  const given = approvals.filter(({ id }) => move.jtis.includes(id));
  if (given.length !== move.jtis.length) return refuse('revoked');
  if (given.length < row.quorum) return refuse('four_eyes_incomplete');
  const isTaken = move.phase === 'hold' || move.phase === 'send';
  if (isTaken && !(await isStanding(tx, row, at))) return refuse('revoked');
  const next = nextUse(row, { phase: move.phase, callId: move.callId, at });
  if (!next) return refuse('consumed');
  const { hold } = next.use;
  if (!next.replayed) {
    const isConsumed = hold === 'sent' || hold === 'spent';
    await updateDecision(tx, caller.tenant, row.id, {
      ...next.use,
      status: isConsumed ? 'consumed' : 'approved',
    });
    if (hold === 'sent') {
      const data = { ...factsOf(row), callId: move.callId };
      await recordActs(tx, caller, [{ type: 'decision.consumed', ...aboutOf(row), data }], at);
    }
  }
  return { ok: true, state: hold, replayed: next.replayed, decisionId: row.id, ...approversOf(given) };
}

/** Whether agent and grant stand. No stop, suspension or revocation of them comes before the commit. */
async function isStanding(tx: Tx, { developerId, agentId, grantId }: DecisionRow, at: Date) {
  const tenant = { developerId };
  if ((await holdAgentStanding(tx, tenant, agentId)) !== 'active') return false;
  const grant = await holdGrant(tx, { tenant, agentIds: null }, grantId);
  return grant?.status === 'active' && grant.expiresAt > at;
}

function approversOf(approvals: readonly ApprovalRow[]) {
  const approvers = approvals.map(({ sub, id: jti, approvedAt }) => ({
    sub,
    jti,
    at: approvedAt.toISOString(),
  }));
  return { jtis: approvers.map(({ jti }) => jti), approvers };
}

/**
 * Takes a step with decision grants for an enforcer elsewhere, after every check of the engine.
 * @throws BAD_REQUEST, FORBIDDEN, NOT_FOUND, CONFLICT, GONE, each with its `sub_reason`
 */
export async function consume(
  deps: DecisionsDeps,
  caller: Caller,
  input: ConsumeDecisionRequest,
): Promise<ConsumeDecisionResult> {
  const { decisionGrants, caseVersion, callId, grantToken, phase } = input;
  const action: Action = { ...input.action, arguments: { ...input.action.arguments } };
  const { connector, tool } = action;
  const facts = await deps.findCallFacts(deps, caller, { grantToken, connector });
  if (!facts.token.ok || !facts.row) throw refusedUse('unknown_grant');
  if (facts.status !== 'active') throw refusedUse('revoked');
  const { manifest } = facts;
  const declared = manifest?.tools.get(tool);
  const asked = { token: { claims: facts.token.claims }, connector, tool, manifest, declared };
  const call = {
    arguments: action.arguments,
    caseId: action.case_id,
    caseVersion: caseVersion ?? undefined,
    decisionGrants,
    callId,
    grantToken,
  };
  const store = openDecisions(deps, caller);
  const decided = await checkDecision(asked, call, store);
  if (!decided.ok) throw refusedUse(decided.denial.sub_reason ?? 'malformed');
  const moved = await store.move({ phase, decisionGrants, action, caseVersion, callId, grantToken });
  if (!moved.ok) throw refusedUse(moved.reason);
  const { state, replayed, decisionId, jtis, approvers } = moved;
  return {
    ...{
      consumed: true,
      state,
      replayed,
      decisionId,
      requestId: decisionId,
      callId,
      actionHash: await actionHash(action),
    },
    jtis: [...jtis],
    approvers: [...approvers],
  };
}

/**
 * Signs the decision grants of an approved request, for the agent and grant that asked.
 * @throws NOT_FOUND, FORBIDDEN for another agent or grant, CONFLICT while it is not approved, GONE
 */
export async function showGrants(
  deps: DecisionsDeps,
  caller: Caller,
  id: string,
  grantToken: string,
): Promise<string[]> {
  const row = await findDecision(deps.db, caller, id);
  if (!row) throw notFound();
  const {
    token,
    row: grant,
    status: standing,
  } = await deps.findCallFacts(deps, caller, { grantToken, connector: row.connector });
  if (!token.ok || !grant || standing !== 'active' || grant.id !== row.grantId)
    throw refusedUse('wrong_agent');
  const status = statusAt(row, deps.clock());
  const isGood = (status === 'approved' || status === 'consumed') && row.expiresAt > deps.clock();
  if (!isGood) throw ended(status === 'consumed' ? 'expired' : status);
  const approvals = await listApprovals(deps.db, caller.tenant, [id]);
  return Promise.all(
    approvals.map((approval) =>
      signToken(deps.keyRing, 'decision+jwt', claimsOf(deps, row, approval, approvals[0])),
    ),
  );
}

function claimsOf(
  { issuer }: DecisionsDeps,
  row: DecisionRow,
  approval: ApprovalRow,
  first: ApprovalRow | undefined,
) {
  const iat = Math.floor(approval.approvedAt.getTime() / 1000);
  const end = Math.floor(row.expiresAt.getTime() / 1000);
  const { position } = approval;
  return {
    ...{ iss: issuer, aud: 'urn:service:decision', iat, exp: Math.min(end, iat + GRANT_SECONDS) },
    ...{ jti: approval.id, sub: approval.sub, dev: row.developerId, agt: row.agentDid, grnt: row.grantId },
    ...{ decision_id: row.id, nonce: row.nonce, connector: row.connector, tool: row.tool },
    ...{ case_id: row.caseId, case_version: row.caseVersion, decision: row.decision },
    ...{ action_hash: row.actionHash, quorum: row.quorum, position },
    ...(position === 2 && first && { prev: first.id }),
    ...(row.fourEyesOn && { four_eyes_on: row.fourEyesOn }),
    approval: {
      ...{
        method: 'passkey',
        credential: approval.credential,
        uv: true,
        at: approval.approvedAt.toISOString(),
      },
      assertion_sha256: hash('sha256', canonicalJson(Object(approval.evidence)), 'base64url'),
    },
  };
}
