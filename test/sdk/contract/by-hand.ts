import { Behest } from '@behest/sdk';
import { enrolApprover } from '../../../apps/server/test/app/approving.ts';
import { authorize } from '../../../apps/server/test/app/flow.ts';
import { startReceiver } from '../../../apps/server/test/app/receiving.ts';
import { OAUTH_CASES, scimCases } from './oauth-cases.ts';
import type { OwnCase, World } from './world.ts';

let approved = 0;

/** A call that needs a person, of whom there is one. */
async function toApprove({ service, acme, its }: World) {
  approved += 1;
  const approver = await enrolApprover(service, acme, `approver${approved}@example.org`);
  const call = { connector: 'acme_mail', tool: 'wipe_mail', grantToken: String(its.grantToken) };
  return { approver, call: { ...call, arguments: { folder: `folder ${approved}` } } };
}

const nobodysAgent = 'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C';
const nobodysDecision = 'dec_01K9Z3QW5M8T2V4X6Y7Z8A9B0C';

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
      behest.authorize({ agentId: nobodysAgent, userId: 'user_42', scopes: ['calendar:read'] }),
  },
  'agents.suspend': {
    answers: 'agents.get',
    good: async ({ behest }) => behest.agents.suspend((await behest.agents.register({ name: 'Idle' })).id),
    refused: ({ behest }) => behest.agents.suspend(nobodysAgent),
  },
  'agents.reactivate': {
    answers: 'agents.get',
    good: async ({ behest }) => {
      const { id } = await behest.agents.register({ name: 'Idle' });
      await behest.agents.suspend(id);
      return behest.agents.reactivate(id);
    },
    refused: ({ behest }) => behest.agents.reactivate(nobodysAgent),
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
  ...OAUTH_CASES,
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
