import { enrolApprover } from '../../../apps/server/test/app/approving.ts';
import { authenticator, registerPasskey } from '../../../apps/server/test/app/authenticator.ts';
import { nobodys, requestTo, ways } from '../../../apps/server/test/app/every-route.ts';
import { authorize, grantTo } from '../../../apps/server/test/app/flow.ts';
import type { OperationId } from '../../../packages/sdk/src/api/caller.ts';
import { CALLS } from '../../../packages/sdk/src/api/calls.gen.ts';
import type { CallRow } from '../../../packages/sdk/src/api/rows.ts';
import type { Clients, World } from './world.ts';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const BULK = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';

/** A request that waits for its person. */
const waiting = async ({ acme, its }: World) =>
  String((await authorize(acme, String(its.agentId), { autoApprove: false })).authRequestId);

/** The id of a person who was offboarded. */
async function offboarded({ acme }: World, principalId: string): Promise<string> {
  await grantTo(acme, { principalId });
  await acme('POST', `/v1/principals/${principalId}/offboard`, {});
  return principalId;
}

const bodyOf = (operation: string, { its }: World) => Object(requestTo(operation, its).body);

/** A call that a person has approved, and that nobody has made yet. */
async function approved({ service, acme, its, behest }: World, folder: string) {
  const approver = await enrolApprover(service, acme, `${folder}@example.org`);
  const call = { ...bodyOf('POST /v1/decisions', { its } as World), arguments: { folder } };
  const { decisionId } = await behest.decisions.request(call);
  const answer = await approver.approve(decisionId);
  if (answer.statusCode !== 200) throw new Error(`approve: ${answer.body}`);
  return { decisionId, call };
}

const dayAfter = (date: Date, days: number) => new Date(date.getTime() + days * 86_400_000).toISOString();

const newConnection = async ({ behest }: World) =>
  (
    await behest.sso.createConnection({
      ...{
        name: 'Another',
        protocol: 'oidc',
        issuerUrl: 'https://idp.example',
        clientId: 'c',
        clientSecret: 's',
      },
    })
  ).id;

/** The arguments of methods for which the samples have none, or none that is good beside all the others. */
const OWN_ARGUMENTS: Readonly<
  Partial<Record<OperationId, (world: World) => readonly unknown[] | Promise<readonly unknown[]>>>
> = {
  'developers.create': () => [{ name: 'Beta' }],
  'developers.setPlan': ({ acme }) => [acme.developerId, { plan: 'pro' }],
  'members.recover': ({ acme }) => [acme.developerId, { displayName: 'Grace', email: 'grace@acme.example' }],
  'approvers.recover': ({ acme, its }) => [acme.developerId, { approverId: its.approverId }],
  'transparency.inclusion': () => [{ seq: 1 }],
  'transparency.consistency': () => [{ from: 1 }],
  'transparency.restart': ({ acme }) => [acme.developerId],
  'policyBundles.delete': async (world) => {
    const bundle = { ...bodyOf('POST /v1/policies/sync', world), version: '1.0.2', activate: false };
    return [(await world.acme('POST', '/v1/policies/sync', bundle)).json().bundleId];
  },
  'policyBundles.active': async ({ behest, its }) => {
    await behest.policyBundles.activate(String(its.bundleId));
    return [{ format: 'rego' }];
  },
  'authorization.code': async (world) => {
    const id = await waiting(world);
    await world.behest.authorizations.approve(id);
    return [id];
  },
  'authorization.deny': async (world) => [await waiting(world)],
  'authorization.cancel': async (world) => [await waiting(world)],
  'webauthn.listCredentials': () => ['user_42', { limit: 1 }],
  'webauthn.removeOwn': async ({ acme }) => [(await registerPasskey(acme, authenticator())).id],
  'walletAuthorizations.consume': async (world) => {
    const body = bodyOf('POST /v1/wallet/authorizations', world);
    return [(await world.behest.walletAuthorizations.issue(body)).id];
  },
  'connections.getAsAgent': async ({ behest, grantToken }) => [
    (await behest.connections.askAsAgent(grantToken, { service: 'files' })).id,
  ],
  'connections.cancel': async ({ behest }) => [
    (await behest.connections.ask({ service: 'files', principalId: 'user_43' })).id,
  ],
  // Another person: the sessions of this one are used by the calls that follow.
  'principals.offboard': async ({ acme }) => {
    await grantTo(acme, { principalId: 'user_45' });
    return ['user_45', {}];
  },
  'principals.offboarding': async (world) => [await offboarded(world, 'user_46')],
  'principals.admit': async (world) => [await offboarded(world, 'user_47')],
  'agents.offboarding': async ({ acme }) => {
    const { agentId } = await grantTo(acme);
    await acme('DELETE', `/v1/agents/${agentId}`);
    return [agentId];
  },
  'insights.series': ({ service }) => {
    const now = service.clock();
    return [{ metric: 'grants', from: dayAfter(now, -1), to: now.toISOString() }];
  },
  'insights.denials': ({ service }) => {
    const now = service.clock();
    return [{ from: dayAfter(now, -1), to: now.toISOString() }];
  },
  'search.find': () => [{ q: 'user_42' }],
  'scim.createUser': () => [{ schemas: [USER], userName: 'ada@acme.test' }, {}],
  'scim.getUser': ({ its }) => [its.scimUserId, {}],
  'scim.replaceUser': ({ its }) => [
    its.scimUserId,
    { schemas: [USER], userName: 'grace@acme.test', displayName: 'Grace' },
    {},
  ],
  'scim.changeUser': ({ its }) => [
    its.scimUserId,
    { schemas: [PATCH], Operations: [{ op: 'replace', path: 'displayName', value: 'Ada' }] },
    {},
  ],
  'scim.deleteUser': ({ its }) => [its.scimUserId],
  'scim.createGroup': () => [{ schemas: [GROUP], displayName: 'Captains' }, {}],
  'scim.getGroup': ({ its }) => [its.scimGroupId, {}],
  'scim.replaceGroup': ({ its }) => [its.scimGroupId, { schemas: [GROUP], displayName: 'Navy' }, {}],
  'scim.changeGroup': ({ its }) => [
    its.scimGroupId,
    { schemas: [PATCH], Operations: [{ op: 'replace', path: 'displayName', value: 'Fleet' }] },
    {},
  ],
  'scim.deleteGroup': ({ its }) => [its.scimGroupId],
  'scim.listUsers': () => [{ count: 1 }],
  'scim.listGroups': () => [{ count: 1 }],
  'scim.bulk': () => [
    {
      schemas: [BULK],
      Operations: [
        {
          method: 'POST',
          path: '/Users',
          bulkId: 'b1',
          data: { schemas: [USER], userName: 'bob@acme.test' },
        },
      ],
    },
  ],
  'scim.getResourceType': () => ['User'],
  'scim.getSchema': () => [USER],
  'scimTokens.delete': async ({ behest }) => [(await behest.scim.createToken({ label: 'Another' })).id],
  'sso.callback': () => [{ state: 'unknown', code: 'c' }],
  'sso.callbackOidc': () => [{ state: 'unknown', code: 'c' }],
  'sso.callbackForm': () => [{ state: 'unknown', code: 'c' }],
  'sso.callbackSaml': () => [{ SAMLResponse: 'PHg+', RelayState: 'unknown' }],
  'sso.callbackLdap': ({ acme, its }) => [
    { username: 'ada', password: 'p', connectionId: its.ssoConnectionId, org: acme.developerId },
  ],
  'sso.listIdentities': ({ its }) => [its.ssoConnectionId, { principalId: 'user_42' }],
  'sso.moveIdentity': ({ its }) => [
    its.ssoConnectionId,
    { principalId: 'user_42', subject: 'https://idp.example|x' },
  ],
  'sso.deleteConnection': async (world) => [await newConnection(world)],
  'enforcement.refund': async (world) => {
    const body = { ...bodyOf('POST /v1/enforce', world), callId: 'call-to-refund' };
    await world.behest.enforcement.enforce(body);
    return ['call-to-refund'];
  },
  'enforcement.usage': ({ its }) => [{ grantId: its.grantId, connector: 'acme_mail', tool: 'send_mail' }],
  'grants.revoke': async ({ acme }) => [(await grantTo(acme)).grantId, { wait: 'confirmed' }],
  'grants.revocation': async ({ acme }) => {
    const { grantId } = await grantTo(acme);
    await acme('DELETE', `/v1/grants/${grantId}?wait=confirmed`);
    return [grantId];
  },
  'approvers.setAbsence': ({ its, service }) => [
    its.approverId,
    {
      from: dayAfter(service.clock(), 1), // so that they may decide now
      until: dayAfter(service.clock(), 2),
    },
  ],
  'decisions.grants': async (world) => [
    (await approved(world, 'junk')).decisionId,
    { grantToken: world.its.grantToken },
  ],
  'decisions.consume': async (world) => {
    const { decisionId, call } = await approved(world, 'drafts');
    const { decisionGrants } = await world.behest.decisions.grants(decisionId, {
      grantToken: call.grantToken,
    });
    const action = { ...bodyOf('POST /v1/decisions/consume', world).action, arguments: { folder: 'drafts' } };
    return [{ ...bodyOf('POST /v1/decisions/consume', world), action, decisionGrants, phase: 'hold' }];
  },
  'policies.replay': (world) => [
    {
      candidate: bodyOf('POST /v1/policies', world),
      since: dayAfter(world.service.clock(), -1),
      until: dayAfter(world.service.clock(), 0),
    },
  ],
  'compliance.exportPrincipal': () => [{ principalId: 'user_42' }],
  'audit.erase': async ({ behest }) => {
    for await (const { id, releasedAt } of behest.compliance.listHolds())
      if (releasedAt === null) await behest.compliance.releaseHold(id);
    return [{ principalId: 'nobody_we_know' }];
  },
  'principals.revokeAll': async ({ acme }) => {
    await grantTo(acme);
    return [];
  },
  'principals.revoke': async ({ acme }) => [(await grantTo(acme)).grantId],
  'grants.receipt': async ({ acme }) => [(await grantTo(acme)).grantId],
  'principals.receipt': async ({ acme }) => [(await grantTo(acme)).grantId],
  'oauth.deleteClient': ({ its }) => [its.assertedAgentId],
  'developers.close': ({ acme }) => [{ confirm: acme.developerId }],
};

/** Calls whose good answer needs a party outside. The code of the refusal shows that their body was taken. */
export const REFUSED: Readonly<Partial<Record<OperationId, string>>> = {
  // A change waits only in a live account with two owners.
  'changes.get': 'NOT_FOUND',
  'changes.withdraw': 'NOT_FOUND',
  'transparency.restart': 'CONFLICT', // only a halted log ends
  'keys.rotate': 'KEY_STORE_READ_ONLY',
  'keys.retire': 'KEY_STORE_READ_ONLY',
  'billing.checkout': 'NOT_CONFIGURED',
  'billing.portal': 'NOT_CONFIGURED',
  'domains.verify': 'VERIFICATION_FAILED',
  'sso.callback': 'BAD_REQUEST',
  'sso.callbackOidc': 'BAD_REQUEST',
  'sso.callbackForm': 'BAD_REQUEST',
  'sso.callbackSaml': 'BAD_REQUEST',
  'sso.callbackLdap': 'NOT_FOUND',
  'sso.listIdentities': 'NOT_FOUND',
  'sso.moveIdentity': 'NOT_FOUND',
  'sso.revokeSession': 'NOT_FOUND',
  'connections.disconnect': 'NOT_FOUND',
  'principals.removeOwnAddress': 'NOT_FOUND',
  'principals.removeAddress': 'NOT_FOUND',
  'assertions.liftStop': 'NOT_FOUND',
  'assertions.liftOwnStop': 'NOT_FOUND',
  'signals.put': 'DISCOVERY_FAILED',
  'signals.get': 'NOT_FOUND',
  'signals.delete': 'NOT_FOUND',
  'scim.getMe': 'HTTP_501',
  'scim.postMe': 'HTTP_501',
  'scim.putMe': 'HTTP_501',
  'scim.patchMe': 'HTTP_501',
  'scim.deleteMe': 'HTTP_501',
};

/** Arguments that are wrong in their own way. */
export const WRONG_ARGUMENTS: Readonly<Partial<Record<OperationId, readonly unknown[]>>> = {
  'verifiableCredentials.verify': [''],
  'scim.listResourceTypes': [{ filter: 'name eq "User"' }], // RFC 7644, section 4
  'scim.listSchemas': [{ filter: 'name eq "User"' }],
};

/** Documents without a credential and without a parameter. */
export const CANNOT_FAIL: readonly OperationId[] = ['scim.config', 'authzen.metadata'];

/** A call of a method that is made from the table of operations. */
export interface Call {
  readonly id: OperationId;
  readonly row: CallRow;
  /** Without the token of a grant, and without the options. */
  readonly args: readonly unknown[];
}

/** These take away what the calls before them need. */
const LAST: readonly OperationId[] = [
  ...(['tokens.revoke', 'principals.revokeAll', 'principals.endSession'] as const),
  ...(['agents.revoke', 'approvers.remove', 'providers.delete', 'developers.close'] as const),
];

function rank([id, { sends }]: readonly [OperationId, CallRow]): number {
  return LAST.includes(id) ? 2 + LAST.indexOf(id) : Number(sends.startsWith('DELETE'));
}

/** The operations whose methods are made from the table, in an order in which each finds its records. */
export const ROWS = (Object.entries(CALLS) as [OperationId, CallRow][])
  .filter(([, { byHand }]) => !byHand)
  .toSorted((one, other) => rank(one) - rank(other));

/** The arguments of a good call: those of the samples, of which the tests of the service make their requests too. */
export async function callOf(world: World, [id, row]: (typeof ROWS)[number]): Promise<Call> {
  return { id, row, args: (await OWN_ARGUMENTS[id]?.(world)) ?? sampled(row, world) };
}

function sampled(row: CallRow, { its }: World): unknown[] {
  const pattern = row.sends.replaceAll(/\{(\w+)\}/g, ':$1');
  const body: Readonly<Record<string, unknown>> = requestTo(pattern, its).body ?? {};
  const idOf = (name: string) => its[name === 'id' ? (ways[pattern]?.id ?? '') : name] ?? nobodys.agentId;
  const { first = [], takes } = row;
  const rest = Object.fromEntries(Object.entries(body).filter(([name]) => !first.includes(name)));
  return [
    ...namesIn(row).map(idOf),
    ...first.map((name) => body[name]),
    ...(takes === 'body' || takes === 'both' ? [rest] : []),
    ...(takes === 'query' ? [row.rows ? { limit: 1 } : {}] : takes === 'both' ? [{}] : []),
  ];
}

const namesIn = ({ sends }: CallRow) => [...sends.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

/** As the call, with a member that its body does not have. @returns undefined for a method without a body */
export function withUnknownMember({ id, row, args }: Call): Call | undefined {
  if (row.takes !== 'body' && row.takes !== 'both') return undefined;
  const at = namesIn(row).length + (row.first?.length ?? 0);
  return { id, row, args: args.with(at, { ...Object(args[at]), isAdmin: true }) };
}

/** As the call, about records that nobody has. @returns undefined for a method that names none */
export function withNobodysIds({ id, row, args }: Call): Call | undefined {
  const names = namesIn(row);
  if (names.length === 0) return undefined;
  return { id, row, args: args.map((arg, at) => (at < names.length ? nobodyLike(String(arg)) : arg)) };
}

/** An id of the same kind that is nobody's. */
function nobodyLike(known: string): string {
  const [kind] = known.split('_');
  return known.includes('_') ? `${kind}_01K9Z3QW5M8T2V4X6Y7Z8A9B0C` : 'nobodys';
}

/** Calls the method. */
export async function make({ row, args }: Call, clients: Clients): Promise<unknown> {
  const { behest, admin, grantToken, sessionToken, scimToken } = clients;
  const [area = '', name] = row.method.split('.');
  const isPersons = area === 'principal';
  const client = row.as === 'operator' ? admin : behest;
  const holder = isPersons ? behest.principal(sessionToken) : Reflect.get(client, area);
  const method = name === undefined ? holder : Reflect.get(holder, name);
  return method(
    ...[...(row.as === 'grant' ? [grantToken] : []), ...args],
    ...(row.as === 'scim' ? [{ scimToken }] : []),
  );
}

/** The call as a program writes it, for the compiler. */
export function writtenAs({ row, args }: Call): string {
  const [area, name = ''] = row.method.split('.');
  const given = [...(row.as === 'grant' ? ['token'] : []), ...args].map((value) => JSON.stringify(value));
  const method = area === 'principal' ? `principal('session').${name}` : row.method;
  return `${row.as === 'operator' ? 'admin' : 'behest'}.${method}(${given.join(', ')})`;
}

/** The method as `methodsOfSdk` names it. */
export const nameOf = ({ method, as }: CallRow): string =>
  `${as === 'operator' ? 'admin.' : ''}${method.replace(/^principal\./, 'principal().')}`;
