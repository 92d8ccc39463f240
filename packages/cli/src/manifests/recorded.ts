import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';

/** A call that was decided, as `enforce()` answers it. */
export interface Recorded {
  readonly connector: string;
  readonly tool: string;
  readonly scopes: readonly string[];
  readonly allowed: boolean;
  readonly agentId?: string;
  readonly purpose?: string | null;
  readonly arguments?: unknown;
  readonly amount?: unknown;
  readonly resource?: string;
  readonly at?: string;
}

export const isRecorded = (value: unknown): value is Recorded =>
  isRecord(value) &&
  typeof value.connector === 'string' &&
  typeof value.tool === 'string' &&
  typeof value.allowed === 'boolean' &&
  Array.isArray(value.scopes) &&
  value.scopes.every((scope) => typeof scope === 'string') &&
  TEXTS.every((name) => value[name] === undefined || value[name] === null || typeof value[name] === 'string');

/** Members that are texts where they are there. */
const TEXTS = ['agentId', 'purpose', 'resource', 'at'];

interface Times {
  readonly since: string | undefined;
  readonly until: string | undefined;
}

/** Finds the calls of a connector in the audit entries, with the scopes of their grants. */
export async function recordedAtService(
  context: Context,
  connector: string,
  { since, until }: Times,
): Promise<Recorded[]> {
  const client = await context.client();
  const scopes = new Map<string, Promise<readonly string[]>>();
  const scopesOf = (grantId: string) => {
    const known = scopes.get(grantId) ?? client.grants.get(grantId).then((grant) => grant.scopes);
    scopes.set(grantId, known);
    return known;
  };
  const query = {
    action: 'tool.enforce',
    limit: 500,
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  };
  const calls: Recorded[] = [];
  for await (const { metadata, grantId, agentId, status, timestamp } of client.audit.list(query)) {
    const { connector: of, tool, amount, resource, purpose } = Object(metadata);
    if (of !== connector || typeof grantId !== 'string') continue; // a bad token names no grant, and no manifest changes that
    calls.push({
      ...{
        connector,
        tool: String(tool),
        allowed: status === 'success',
        at: timestamp,
        scopes: await scopesOf(grantId),
      },
      ...(typeof agentId === 'string' && { agentId }),
      ...(amount !== undefined && { amount }),
      ...(typeof resource === 'string' && { resource }),
      ...(typeof purpose === 'string' && { purpose }),
    });
  }
  return calls;
}
