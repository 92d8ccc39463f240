import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { row } from '../../../platform/db/row.ts';
import { lookUp, statement } from '../../../platform/db/statement.ts';
import type { AgentStatus } from './tokens.queries.ts';
import type { NewGrant, NewToken } from './tokens.repo.ts';

/** The agent that is to get a grant on the word of an identity provider. */
export interface AssertableAgent {
  readonly agentDid: string;
  readonly agentStatus: AgentStatus;
  readonly agentScopes: readonly string[];
  readonly enforceAgentScopes: boolean;
  readonly policiesVersion: string;
}

const assertable = lookUp<AssertableAgent, [developerId: string, agentId: string]>(
  'find_assertable',
  `select agent_did as "agentDid", agent_status as "agentStatus", agent_scopes as "agentScopes",
     enforce_agent_scopes as "enforceAgentScopes", policies_version as "policiesVersion"
   from find_assertable($1, $2)`,
);

export async function findAssertable(
  db: Executor,
  { developerId }: Tenant,
  agentId: string,
): Promise<AssertableAgent | undefined> {
  return (await assertable(db, developerId, agentId))[0];
}

/** Why nothing was written. `changed`: a fact is no longer as it was read. */
export type AssertionRefusal = 'agent_inactive' | 'principal_inactive' | 'changed' | 'over_quota';

export interface AssertionWrite {
  readonly grant: NewGrant;
  readonly isNew: boolean;
  readonly token: NewToken;
  readonly policiesVersion: string;
  readonly grantLimit: number | null;
}

const writing = statement<{ refusal: AssertionRefusal | null }, [string, at: Date, write: string]>(
  'write_assertion',
  'select write_assertion($1, $2, $3) as refusal',
);

/** Writes in the caller's transaction. @returns the reason when nothing was written, else null */
export async function writeAssertion(
  tx: Tx,
  { developerId }: Tenant,
  at: Date,
  { grant, token, ...facts }: AssertionWrite,
): Promise<AssertionRefusal | null> {
  const write = { ...facts, grant: row({ ...grant, developerId }), token: row({ ...token, developerId }) };
  const [made] = await writing(tx, developerId, at, JSON.stringify(write));
  return made?.refusal ?? null;
}
