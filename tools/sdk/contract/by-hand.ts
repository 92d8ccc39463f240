import { Behest, generatePkce } from '@behest/sdk';
import { enrolApprover } from '../../../apps/server/test/app/approving.ts';
import { authorize } from '../../../apps/server/test/app/flow.ts';
import { startReceiver } from '../../../apps/server/test/app/receiver.ts';
import type { ScimCalls } from '../../../packages/sdk/src/client/extras.ts';
import { PUBLIC_URL, type World } from './world.ts';

/** A method that is not made from the table. The compiler checks its arguments here. */
export interface OwnCase {
  /** The operation whose description the answer has to fit. */
  readonly answers?: string;
  good(world: World): Promise<unknown>;
  /** A call that the service, or the method itself, refuses with an error of the SDK. */
  refused(world: World): Promise<unknown>;
}

const REDIRECT = 'https://client.test/cb';

/** An agent that is an OAuth client, and a token of its own. */
async function oauthClient({ behest }: World) {
  const scopes = ['calendar:read'];
  const agent = await behest.agents.register({ name: 'Client', scopes });
  const { clientSecret } = await behest.oauth.putClient(agent.id, {
    ...{ redirectUris: [REDIRECT], authMethod: 'client_secret_post' },
  });
  const { code = '' } = await behest.authorize({ agentId: agent.id, userId: 'user_42', scopes });
  const { grantToken } = await behest.tokens.exchange({ code, agentId: agent.id });
  return { client: { client_id: agent.id, client_secret: String(clientSecret) }, grantToken };
}

const pushOf = (client: { client_id: string; client_secret: string }) => ({
  ...client,
  ...({ response_type: 'code', redirect_uri: REDIRECT, scope: 'calendar:read' } as const),
  ...({ code_challenge: generatePkce().codeChallenge, code_challenge_method: 'S256' } as const),
});

const stranger = { client_id: 'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C', client_secret: 'wrong' };

/** A device that waits for its person, which is the error that polls get. */
async function devicePoll(world: World) {
  const { client } = await oauthClient(world);
  const { device_code } = await world.behest.oauth.device({ ...client, scope: 'calendar:read' });
  return { ...client, grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code } as const;
}

async function refreshForm(world: World) {
  const { client } = await oauthClient(world);
  const scopes = ['calendar:read'];
  const { code = '' } = await world.behest.authorize({
    agentId: client.client_id,
    userId: 'user_42',
    scopes,
  });
  const { refreshToken = '' } = await world.behest.tokens.exchange({ code, agentId: client.client_id });
  return { ...client, grant_type: 'refresh_token', refresh_token: refreshToken } as const;
}

let approved = 0;

/** A call that needs a person, of whom there is one. */
async function toApprove({ service, acme, its }: World) {
  approved += 1;
  const approver = await enrolApprover(service, acme, `approver${approved}@example.org`);
  const call = { connector: 'acme_mail', tool: 'wipe_mail', grantToken: String(its.grantToken) };
  return { approver, call: { ...call, arguments: { folder: `folder ${approved}` } } };
}

const nobodysDecision = 'dec_01K9Z3QW5M8T2V4X6Y7Z8A9B0C';

/** The seven calls of one kind of resource. */
function scimCases(kind: 'users' | 'groups'): Record<string, OwnCase> {
  const own = kind === 'users' ? 'User' : 'Group';
  const bodyOf = (name: string) =>
    kind === 'users' ? { userName: `${name}@acme.test` } : { displayName: name };
  const callsOf = ({ behest, scimToken }: World) => behest.scim[kind](scimToken);
  const strange = ({ behest, strangers }: World) => behest.scim[kind](strangers.scimToken);
  let made = 0;
  const newId = async (calls: ScimCalls) => {
    made += 1;
    return String((await calls.create(bodyOf(`${kind}${made}`))).id);
  };
  const changes = { Operations: [{ op: 'replace', path: 'displayName', value: 'Ada' }] };
  const cases: Record<keyof ScimCalls, OwnCase> = {
    list: { good: (world) => callsOf(world).list({ count: 1 }), refused: (world) => strange(world).list() },
    search: {
      good: (world) => callsOf(world).search({ count: 1 }),
      refused: (world) => strange(world).search({}),
    },
    create: {
      good: (world) => callsOf(world).create(bodyOf('first')),
      refused: (world) => callsOf(world).create({}),
    },
    get: {
      good: async (world) => callsOf(world).get(await newId(callsOf(world))),
      refused: (world) => callsOf(world).get('nobodys'),
    },
    replace: {
      good: async (world) => callsOf(world).replace(await newId(callsOf(world)), bodyOf('second')),
      refused: (world) => callsOf(world).replace('nobodys', bodyOf('third')),
    },
    update: {
      good: async (world) => callsOf(world).update(await newId(callsOf(world)), changes),
      refused: (world) => callsOf(world).update('nobodys', changes),
    },
    delete: {
      good: async (world) => callsOf(world).delete(await newId(callsOf(world))),
      refused: (world) => callsOf(world).delete('nobodys'),
    },
  };
  const answers: Readonly<Record<string, string>> = {
    list: `scim.list${own}s`,
    search: `scim.search${own}s`,
  };
  return Object.fromEntries(
    Object.entries(cases).map(([name, each]) => [
      `scim.${kind}().${name}`,
      { ...each, ...(name !== 'delete' && { answers: answers[name] ?? `scim.get${own}` }) },
    ]),
  );
}

/** The methods that are not made from the table and ask the service. */
export const OWN_CASES: Readonly<Record<string, OwnCase>> = {
  'Behest.signup': {
    answers: 'developers.signUp',
    good: ({ service }) => Behest.signup({ name: 'Beta' }, { baseUrl: service.url }),
    refused: ({ service }) => Behest.signup({ name: '' }, { baseUrl: service.url }),
  },
  me: {
    answers: 'developers.me',
    good: ({ behest }) => behest.me(),
    refused: ({ strangers }) => strangers.behest.me(),
  },
  updateSettings: {
    answers: 'developers.change',
    good: ({ behest }) => behest.updateSettings({ name: 'Acme' }),
    refused: ({ behest }) => behest.updateSettings({ name: '' }),
  },
  authorize: {
    answers: 'authorization.request',
    good: ({ behest, its }) =>
      behest.authorize({ agentId: String(its.agentId), userId: 'user_42', scopes: ['calendar:read'] }),
    refused: ({ behest }) =>
      behest.authorize({ agentId: stranger.client_id, userId: 'user_42', scopes: ['calendar:read'] }),
  },
  'agents.suspend': {
    answers: 'agents.get',
    good: async ({ behest }) => behest.agents.suspend((await behest.agents.register({ name: 'Idle' })).id),
    refused: ({ behest }) => behest.agents.suspend(stranger.client_id),
  },
  'agents.reactivate': {
    answers: 'agents.get',
    good: async ({ behest }) => {
      const { id } = await behest.agents.register({ name: 'Idle' });
      await behest.agents.suspend(id);
      return behest.agents.reactivate(id);
    },
    refused: ({ behest }) => behest.agents.reactivate(stranger.client_id),
  },
  'authorizations.wait': {
    good: async ({ acme, behest, its }) => {
      const { authRequestId } = await authorize(acme, String(its.agentId), { autoApprove: false });
      await behest.authorizations.approve(String(authRequestId));
      return behest.authorizations.wait(String(authRequestId));
    },
    refused: async ({ acme, behest, its }) => {
      const { authRequestId } = await authorize(acme, String(its.agentId), { autoApprove: false });
      await behest.authorizations.deny(String(authRequestId));
      return behest.authorizations.wait(String(authRequestId));
    },
  },
  'grants.verify': {
    good: ({ behest, its }) => behest.grants.verify(String(its.grantToken)),
    refused: ({ behest }) => behest.grants.verify('e30.e30.e30'),
  },
  verify: {
    good: ({ behest, its }) => behest.verify(String(its.grantToken)),
    refused: ({ behest }) => behest.verify('e30.e30.e30'),
  },
  withResponse: {
    good: async ({ behest }) => (await behest.withResponse((calls) => calls.agents.list())).data,
    refused: ({ strangers }) => strangers.behest.withResponse((calls) => calls.agents.list()),
  },
  'audit.verifyChain': {
    good: async ({ behest }) => {
      const { entries } = await behest.audit.list({ order: 'asc', limit: 5 });
      const verdict = behest.audit.verifyChain(entries);
      if (!verdict.valid) throw new Error(`The chain is broken: ${verdict.problem}`);
    },
    refused: ({ strangers }) => strangers.behest.audit.list(),
  },
  'events.stream': {
    good: async ({ behest }) => {
      for await (const event of behest.events.stream({ lastEventId: await firstEvent(behest) })) return event;
    },
    refused: ({ strangers }) => strangers.behest.events.stream().next(),
  },
  'events.subscribe': {
    good: async ({ behest }) => {
      const lastEventId = await firstEvent(behest);
      return new Promise((resolve) => {
        const { unsubscribe } = behest.events.subscribe(
          (event) => {
            resolve(event);
            unsubscribe();
          },
          { lastEventId },
        );
      });
    },
    refused: ({ strangers }) => strangers.behest.events.subscribe(() => {}).done,
  },
  'vault.fetch': {
    good: async ({ behest, grantToken }) => {
      const upstream = await startReceiver();
      await behest.vault.putProxyProfile('github', {
        ...{ upstreams: { api: `http://127.0.0.1:${upstream.port}` }, inject: { style: 'bearer' } },
        rules: [{ id: 'all', methods: ['GET'], path: '/repos/{rest+}', unmapped: true }],
      });
      await behest.vault.store({ principalId: 'user_42', service: 'github', accessToken: 'upstream-access' });
      const answer = await behest.vault.fetch('github', '/repos/acme', {}, { grantToken });
      if (answer.status !== 204) throw new Error(`The upstream answered ${answer.status}.`);
    },
    refused: ({ behest }) => behest.vault.fetch('github', '/repos/acme', {}, { grantToken: 'e30.e30.e30' }),
  },
  'sso.getLoginUrl': {
    answers: 'sso.login',
    good: async ({ acme, behest, its }) => {
      // A directory is asked when the person has entered a password, so nobody outside is needed here.
      await behest.sso.updateConnection(String(its.ssoConnectionId), { status: 'inactive' });
      await behest.sso.createConnection({
        ...{ name: 'Directory', protocol: 'ldap', ldapUrl: 'ldaps://directory.example' },
        ...{ ldapBindDn: 'cn=behest', ldapBindPassword: 'p', ldapSearchBase: 'dc=example' },
      });
      return behest.sso.getLoginUrl(acme.developerId);
    },
    refused: ({ behest }) => behest.sso.getLoginUrl('dev_none'),
  },
  'oauth.metadata': {
    answers: 'oauth.metadata',
    good: ({ behest }) => behest.oauth.metadata(),
    refused: () =>
      new Behest({ apiKey: 'bh_test_1', baseUrl: `${PUBLIC_URL}/nowhere`, maxRetries: 0 }).oauth.metadata(),
  },
  'oauth.par': {
    answers: 'oauth.push',
    good: async (world) => world.behest.oauth.par(pushOf((await oauthClient(world)).client)),
    refused: ({ behest }) => behest.oauth.par(pushOf(stranger)),
  },
  'oauth.token': {
    answers: 'oauth.token',
    good: async (world) => world.behest.oauth.token(await refreshForm(world)),
    refused: async (world) => world.behest.oauth.token(await devicePoll(world)),
  },
  'oauth.exchange': {
    answers: 'oauth.token',
    good: async (world) => {
      const { grantToken } = await oauthClient(world);
      const { client } = await oauthClient(world);
      return world.behest.oauth.exchange({ ...client, subject_token: grantToken, scope: 'calendar:read' });
    },
    refused: async (world) => {
      const { client } = await oauthClient(world);
      return world.behest.oauth.exchange({ ...client, subject_token: 'e30.e30.e30' });
    },
  },
  'oauth.device': {
    answers: 'oauth.authorizeDevice',
    good: async (world) => {
      const { client } = await oauthClient(world);
      return world.behest.oauth.device({ ...client, scope: 'calendar:read' });
    },
    refused: ({ behest }) => behest.oauth.device({ ...stranger, scope: 'calendar:read' }),
  },
  'oauth.introspect': {
    answers: 'oauth.introspect',
    good: ({ behest, its }) => behest.oauth.introspect({ token: String(its.grantToken) }),
    refused: ({ behest }) => behest.oauth.introspect({ ...stranger, token: 'x' }),
  },
  'oauth.revoke': {
    good: async (world) => {
      const { client, grantToken } = await oauthClient(world);
      return world.behest.oauth.revoke({ ...client, token: grantToken });
    },
    refused: ({ behest }) => behest.oauth.revoke({ ...stranger, token: 'x' }),
  },
  enforce: {
    good: async ({ behest, its }) => {
      behest.loadManifest({ connector: 'acme_mail', tools: { list_mail: 'read' } });
      const call = { connector: 'acme_mail', tool: 'list_mail', arguments: {} };
      const { allowed, reason } = await behest.enforce({ ...call, grantToken: String(its.grantToken) });
      if (!allowed) throw new Error(reason);
    },
    refused: ({ behest }) => {
      const run = behest.wrapTool(() => 'done', {
        connector: 'acme_mail',
        tool: 'list_mail',
        grantToken: 'x',
      });
      return run({});
    },
  },
  'approvals.request': {
    answers: 'decisions.request',
    good: async (world) => world.behest.approvals.request((await toApprove(world)).call),
    refused: async (world) => world.strangers.behest.approvals.request((await toApprove(world)).call),
  },
  'approvals.resume': {
    good: async (world) => {
      const { decision } = await world.behest.approvals.resume((await toApprove(world)).call);
      return decision.url;
    },
    refused: async (world) => world.strangers.behest.approvals.resume((await toApprove(world)).call),
  },
  'approvals.get': {
    answers: 'decisions.get',
    good: async (world) => {
      const { decisionId } = await world.behest.approvals.request((await toApprove(world)).call);
      return world.behest.approvals.get(decisionId);
    },
    refused: ({ behest }) => behest.approvals.get(nobodysDecision),
  },
  'approvals.grants': {
    good: async (world) => {
      const { approver, call } = await toApprove(world);
      const { decisionId } = await world.behest.approvals.request(call);
      await approver.approve(decisionId);
      const [grant] = await world.behest.approvals.grants(decisionId, call.grantToken);
      if (grant === undefined) throw new Error('There is no decision grant.');
    },
    refused: ({ behest, its }) => behest.approvals.grants(nobodysDecision, String(its.grantToken)),
  },
  'approvals.cancel': {
    good: async (world) => {
      const { decisionId } = await world.behest.approvals.request((await toApprove(world)).call);
      return world.behest.approvals.cancel(decisionId);
    },
    refused: ({ behest }) => behest.approvals.cancel(nobodysDecision),
  },
  ...scimCases('users'),
  ...scimCases('groups'),
  rotateKey: {
    answers: 'apiKeys.rotate',
    good: ({ behest }) => behest.rotateKey(),
    refused: ({ strangers }) => strangers.behest.rotateKey(),
  },
};

/** Methods of the client that never ask the service, or that only begin to. */
export const LOCAL: readonly string[] = [
  ...['close', 'listTools', 'loadManifest', 'loadManifests', 'loadManifestsFromDir', 'manifest'],
  ...['revocations', 'toJSON', 'toString', 'wrapTool', 'admin.toJSON', 'admin.toString'],
];

async function firstEvent(behest: Behest): Promise<string> {
  const { events } = await behest.events.list({ limit: 1 });
  return String(events[0]?.id);
}
