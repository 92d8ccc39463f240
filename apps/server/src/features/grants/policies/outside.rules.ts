import type { PolicyOperation } from './policies.schema.ts';

export type Backend = 'opa' | 'cedar';

/** The facts that an outside decision point gets. */
export interface OutsideFacts {
  readonly developerId: string;
  readonly agentId: string;
  readonly principalId: string;
  readonly scopes: readonly string[];
  readonly operation: PolicyOperation;
  readonly at: Date;
  readonly purpose?: string | null;
  /** The address of the caller. Only Cedar in the service gets it. */
  readonly address?: string | null;
  readonly grant?: { readonly id: string; readonly delegationDepth: number };
  readonly browser?: { readonly ip: string; readonly userAgent: string | null };
}

/** The answer of a decision point outside. An effect of null means that it leaves the decision to others. */
export interface OutsideAnswer {
  readonly effect: 'allow' | 'deny' | null;
  readonly reason: string;
}

/** The facts by the names that rules outside use. */
export const factsOf = ({ browser, grant, purpose, ...facts }: OutsideFacts) => ({
  agent_id: facts.agentId,
  principal_id: facts.principalId,
  scopes: facts.scopes,
  developer_id: facts.developerId,
  operation: facts.operation,
  time: facts.at.toISOString(),
  ...(purpose && { purpose }),
  ...(grant && { grant: { id: grant.id, delegationDepth: grant.delegationDepth } }),
  ...(browser && { request: browser }),
});

/** The body of a question. */
export function questionOf(backend: Backend, facts: OutsideFacts): object {
  const input = factsOf(facts);
  if (backend === 'opa') return { input };
  return {
    principal: { type: 'Behest::Agent', id: facts.agentId },
    action: { type: 'Behest::Action', id: facts.operation },
    resource: { type: 'Behest::Grant', id: facts.grant?.id ?? 'new' },
    context: input,
  };
}

/** @returns undefined for an answer that is not as the backend defines it */
export function readAnswer(backend: Backend, text: string): OutsideAnswer | undefined {
  const answer = parsed(text);
  if (!isObject(answer)) return undefined;
  return backend === 'opa' ? ofOpa(answer) : ofCedar(answer);
}

function ofOpa({ result }: Members): OutsideAnswer | undefined {
  if (result === undefined) return { effect: null, reason: '' };
  if (!isObject(result)) return undefined;
  const reason = reasonIn(result.reason);
  if (result.allow === undefined) return { effect: null, reason };
  return typeof result.allow === 'boolean' ? { effect: result.allow ? 'allow' : 'deny', reason } : undefined;
}

function ofCedar({ decision, diagnostics }: Members): OutsideAnswer | undefined {
  if (decision !== 'Allow' && decision !== 'Deny') return undefined;
  const reasons = isObject(diagnostics) ? diagnostics.reason : undefined;
  const reason = reasonIn(Array.isArray(reasons) ? reasons.join(', ') : reasons);
  return { effect: decision === 'Allow' ? 'allow' : 'deny', reason };
}

const MAX_REASON = 500; // characters; the audit entry keeps it

/** One line of text. */
const reasonIn = (text: unknown): string =>
  typeof text === 'string' ? text.slice(0, MAX_REASON).replaceAll(/\p{C}/gu, ' ') : '';

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a malformed answer, which the caller denies
  }
}
