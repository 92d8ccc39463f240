import { Behest, generatePkce } from '@behest/sdk';
import type { ScimCalls } from '../../../packages/sdk/src/client/extras.ts';
import { type OwnCase, PUBLIC_URL, type World } from './world.ts';

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

/** The endpoints of OAuth. */
export const OAUTH_CASES: Readonly<Record<string, OwnCase>> = {
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
  'oauth.backchannel': {
    answers: 'oauth.authorizeByBackchannel',
    good: async (world) => {
      const { client } = await oauthClient(world);
      return world.behest.oauth.backchannel({ ...client, scope: 'calendar:read', login_hint: 'user_42' });
    },
    refused: ({ behest }) =>
      behest.oauth.backchannel({ ...stranger, scope: 'calendar:read', login_hint: 'user_42' }),
  },
  'oauth.poll': {
    answers: 'oauth.token',
    good: async (world) => {
      const { client } = await oauthClient(world);
      const asked = await world.behest.oauth.backchannel({
        ...{ ...client, scope: 'calendar:read', login_hint: 'user_77' },
      });
      const { entries } = await world.behest.audit.list({ principalId: 'user_77', limit: 1 });
      await world.behest.authorizations.approve(String(Object(entries[0]?.metadata).authRequestId));
      return world.behest.oauth.poll({ ...asked, interval: 0 }, client);
    },
    refused: async (world) => {
      const { client } = await oauthClient(world);
      const asked = { auth_req_id: 'x'.repeat(43), expires_in: 300, interval: 0 };
      return world.behest.oauth.poll(asked, client);
    },
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
};

/** The seven calls of one kind of resource. */
export function scimCases(kind: 'users' | 'groups'): Record<string, OwnCase> {
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
