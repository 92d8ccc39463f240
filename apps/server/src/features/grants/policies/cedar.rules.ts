import { readScope } from '@behest/protocol/scopes';
import { readAddress } from './match.rules.ts';
import { factsOf, type OutsideFacts } from './outside.rules.ts';

/** The nouns that a bundle of Cedar may use. The guide to policies prints this text. */
export const CEDAR_SCHEMA = `namespace Behest {
  entity Agent, Grant;
  type Facts = {
    agent_id: String,
    principal_id: String,
    developer_id: String,
    operation: String,
    scopes: Set<String>,
    covering: Set<String>,
    time: String,
    at: datetime,
    purpose?: String,
    address?: ipaddr,
    grant?: { id: String, delegationDepth: Long },
    request?: { ip: String, userAgent?: String },
  };
  action authorize, consent, token, refresh, delegate appliesTo {
    principal: [Agent],
    resource: [Grant],
    context: Facts,
  };
}
`;

/** A bundle that is evaluated here may have this many bytes: some 1,500 policies. */
export const MAX_CEDAR_BYTES = 262_144;

/** A request in the words of the schema. */
export function cedarCallOf(facts: OutsideFacts) {
  const { request, ...plain } = factsOf(facts);
  const address = plainAddress(facts.address);
  return {
    principal: { type: 'Behest::Agent', id: facts.agentId },
    action: { type: 'Behest::Action', id: facts.operation },
    resource: { type: 'Behest::Grant', id: facts.grant?.id ?? 'new' },
    context: {
      ...plain,
      scopes: [...facts.scopes],
      covering: [...new Set(facts.scopes.flatMap(coveringOf))],
      at: extension('datetime', facts.at.toISOString()),
      ...(address && { address: extension('ip', address) }),
      ...(request && { request: { ip: request.ip, ...agentOf(request) } }),
    },
  };
}

export type CedarCall = ReturnType<typeof cedarCallOf>;

const extension = (fn: string, arg: string) => ({ __extn: { fn, arg } });

/** An absent member: Cedar has no null. */
const agentOf = ({ userAgent }: { userAgent: string | null }) => (userAgent === null ? {} : { userAgent });

/** A scope, and the wildcards above it: `a:b` is below `a:*` and `*`. */
function coveringOf(scope: string): string[] {
  const { tool } = readScope(scope);
  if (tool) return [scope, `tool:${tool.connector}:*`];
  const parts = scope.split(':');
  return [scope, '*', ...parts.slice(1).map((_, place) => `${parts.slice(0, place + 1).join(':')}:*`)];
}

/** The address as Cedar reads it, which knows no IPv4 inside IPv6 and no zones. */
function plainAddress(text: string | null | undefined): string | undefined {
  const plain = text?.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%[\s\S]*$/, '');
  return plain && readAddress(plain) ? plain : undefined;
}

/** A place in a text, as editors count lines and columns. @param offset in UTF-8 */
export function placeIn(text: string, offset: number): string {
  const before = Buffer.from(text).subarray(0, offset).toString();
  const lines = before.split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}
