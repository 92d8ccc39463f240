import type { Largest } from './largest-requests.ts';

const many = <Made>(count: number, make: (at: number) => Made): Made[] =>
  Array.from({ length: count }, (_, at) => make(at));

interface Account {
  readonly apiKey: string;
  readonly scim: string;
  /** The session of an open setup link. */
  readonly setup: string;
  readonly groupId: string;
  readonly connectionId: string;
  readonly grantToken: string;
  readonly agentId: string;
}

/** Requests whose parts are each within their limit, and multiply. */
export function handMade({
  apiKey,
  scim,
  setup,
  groupId,
  connectionId,
  grantToken,
  agentId,
}: Account): Largest[] {
  const filter = many(50, (at) => `value eq "nobody ${at}"`).join(' or ');
  const members = (from: number, count: number) => many(count, (at) => ({ value: `nobody-${from + at}` }));
  const patch = (...operations: object[]) => ({
    method: 'PATCH',
    path: `/scim/v2/Groups/${groupId}`,
    apiKey: scim,
    body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations: operations },
  });
  const add = { op: 'add', path: 'members', value: members(0, 9_000) };
  const post = (path: string, body: object, key?: string) => ({
    method: 'POST',
    path,
    body,
    ...(key !== undefined && { apiKey: key }),
  });
  const scope = (at: number) => `area${at}:read`;
  const evaluation = (at: number) => ({
    action: { name: 'call' },
    resource: { type: 'tool', id: `crm:${at}` },
  });
  return [
    {
      name: 'Setup: metadata of 60,000 characters of `<!--`',
      request: post('/setup/provider', { session: setup, metadata: '<!--'.repeat(15_000) }),
    },
    {
      name: 'Setup: metadata of 5,000 elements within each other',
      request: post('/setup/provider', {
        session: setup,
        metadata: `${'<a b="c">'.repeat(49)}${'<X509Certificate>a</X509Certificate>'.repeat(1_500)}`,
      }),
    },
    { name: 'SCIM: a group with 9,000 members', request: patch(add) },
    {
      name: 'SCIM: 9,000 members, and 99 removals by 50 terms',
      request: patch(add, ...many(99, () => ({ op: 'remove', path: `members[${filter}]` }))),
    },
    {
      name: 'SCIM: 9,000 members, and 99 more of one',
      request: patch(
        add,
        ...many(99, (at) => ({ op: 'add', path: 'members', value: members(10_000 + at, 1) })),
      ),
    },
    {
      name: 'SCIM: a search by 50 terms',
      request: {
        method: 'GET',
        path: `/scim/v2/Users?filter=${encodeURIComponent(many(50, (at) => `userName eq "u${at}"`).join(' or '))}`,
        apiKey: scim,
      },
    },
    {
      name: 'SSO: 500 groups of 100 scopes',
      request: {
        method: 'PATCH',
        path: `/v1/sso/connections/${connectionId}`,
        apiKey,
        body: {
          groupMappings: Object.fromEntries(
            many(500, (group) => [`g${group}`, many(100, (at) => scope(group * 100 + at))]),
          ),
        },
      },
    },
    {
      name: 'Enforcement: arguments of 60 KB, 30 levels',
      request: post(
        '/v1/enforce',
        {
          grantToken,
          connector: 'crm',
          tool: 'lookup',
          arguments: {
            list: many(6_000, (at) => at),
            deep: JSON.parse(`${'{"a":'.repeat(29)}1${'}'.repeat(29)}`),
          },
        },
        apiKey,
      ),
    },
    {
      name: 'Enforcement: arguments of 10,000 numbers',
      request: post(
        '/v1/enforce',
        { grantToken, connector: 'crm', tool: 'lookup', arguments: { list: many(10_000, () => 0.5) } },
        apiKey,
      ),
    },
    {
      name: 'AuthZEN: 50 evaluations with contexts',
      request: post(
        '/access/v1/evaluations',
        {
          subject: { type: 'agent', id: agentId },
          context: { text: 'x'.repeat(10_000) },
          evaluations: many(50, evaluation),
        },
        apiKey,
      ),
    },
    {
      name: 'Manifest: 500 tools with rules',
      request: {
        method: 'PUT',
        path: '/v1/manifests/large',
        apiKey,
        body: {
          $schema: 'urn:service:manifest:0.6',
          connector: 'large',
          tools: Object.fromEntries(
            many(500, (at) => [`tool_${at}`, { permission: 'read', description: 'd'.repeat(1_000) }]),
          ),
        },
      },
    },
    {
      name: 'Authorization: 100 scopes',
      request: post(
        '/v1/authorize',
        { agentId, principalId: 'user_42', scopes: many(100, scope), expiresIn: '30d' },
        apiKey,
      ),
    },
    {
      name: 'Verification: 100 scopes',
      request: post('/v1/tokens/verify', { token: grantToken, requiredScopes: many(100, scope) }, apiKey),
    },
    {
      name: 'Vault: a body of 1 MB in one text',
      request: post(
        '/v1/audit/log',
        { agentId, action: 'x', metadata: { text: '"'.repeat(400_000) } },
        apiKey,
      ),
    },
  ];
}
