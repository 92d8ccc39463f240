import { api } from '../../api/client.ts';

/** What the steps before have made. */
export interface Made {
  readonly agentId?: string;
  readonly authRequestId?: string;
  readonly consentUrl?: string;
  readonly code?: string;
  readonly grantToken?: string;
  readonly grantId?: string;
  /** The newest entry of the chain about the grant, which is that of the denied call. */
  readonly entryId?: string;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  /** The same call in TypeScript and by the program `behest`. */
  readonly typescript: string;
  readonly cli: string;
}

export interface Step {
  readonly name: 'agent' | 'ask' | 'consent' | 'token' | 'verify' | 'revoke' | 'again' | 'call';
  readonly call: (made: Made) => Call;
  /** @returns what it adds, and what the service answered. Nothing, while a person has to act. */
  readonly run: (made: Made) => Promise<{ readonly made: Made; readonly answer: unknown } | undefined>;
}

const NAME = 'Travel agent';
const SCOPES = ['calendar:read', 'email:send'];
const PERSON = 'user_42';
const TOOL = { connector: 'calendar', tool: 'list_events' } as const;

/** An id that a step before this one makes stands in angle brackets until then. */
const or = (id: string | undefined, what: string) => id ?? `<${what}>`;

/** The client throws when it has no answer, so an answer without data has no body. */
const answered = <Body>({ data }: { readonly data?: Body }): Body => {
  if (data === undefined) throw new Error('The service answered without a body.');
  return data;
};

export const steps: readonly Step[] = [
  {
    name: 'agent',
    call: () => ({
      method: 'POST',
      path: '/v1/agents',
      body: { name: NAME, scopes: SCOPES },
      typescript: `const agent = await behest.agents.register({ name: '${NAME}', scopes: ${listed(SCOPES)} });`,
      cli: `behest agents register --name '${NAME}' --scopes ${SCOPES.join(',')}`,
    }),
    run: async () => {
      const answer = answered(
        await api.POST('/v1/agents', { body: { name: NAME, scopes: SCOPES } as never }),
      );
      return { made: { agentId: answer.agentId }, answer };
    },
  },
  {
    name: 'ask',
    call: ({ agentId }) => ({
      method: 'POST',
      path: '/v1/authorize',
      body: { agentId: or(agentId, 'agent id'), principalId: PERSON, scopes: SCOPES, autoApprove: false },
      typescript: `const { authRequestId, consentUrl } = await behest.authorize({
  agentId: '${or(agentId, 'agent id')}',
  principalId: '${PERSON}',
  scopes: ${listed(SCOPES)},
  autoApprove: false, // a sandbox approves at once otherwise
});`,
      cli: `behest authorize --agent ${or(agentId, 'agent id')} --principal ${PERSON} --scopes ${SCOPES.join(',')} --auto-approve false`,
    }),
    run: async ({ agentId = '' }) => {
      const body = { agentId, principalId: PERSON, scopes: SCOPES, autoApprove: false };
      const answer = answered(await api.POST('/v1/authorize', { body: body as never }));
      return { made: { authRequestId: answer.authRequestId, consentUrl: answer.consentUrl }, answer };
    },
  },
  {
    name: 'consent',
    call: ({ authRequestId }) => ({
      method: 'POST',
      path: `/v1/authorize/${or(authRequestId, 'request id')}/code`,
      body: {},
      typescript: `const code = await behest.authorizations.wait('${or(authRequestId, 'request id')}');`,
      cli: `behest authorizations code ${or(authRequestId, 'request id')}`,
    }),
    run: async ({ authRequestId = '' }) => {
      const params = { path: { id: authRequestId } };
      const { status } = answered(await api.GET('/v1/authorize/{id}', { params }));
      if (status === 'pending') return undefined;
      if (status !== 'approved') throw new Denied();
      const answer = answered(await api.POST('/v1/authorize/{id}/code', { params, body: {} }));
      return { made: { code: answer.code }, answer };
    },
  },
  {
    name: 'token',
    call: ({ agentId, code }) => ({
      method: 'POST',
      path: '/v1/token',
      body: { agentId: or(agentId, 'agent id'), code: or(code, 'code') },
      typescript: `const { grantToken } = await behest.tokens.exchange({
  agentId: '${or(agentId, 'agent id')}',
  code: '${or(code, 'code')}',
});`,
      cli: `behest tokens exchange --agent ${or(agentId, 'agent id')} --code ${or(code, 'code')}`,
    }),
    run: async ({ agentId = '', code = '' }) => {
      const answer = answered(await api.POST('/v1/token', { body: { agentId, code } as never }));
      return { made: { grantToken: answer.grantToken, grantId: answer.grantId }, answer };
    },
  },
  { name: 'verify', call: verifyCall, run: verify },
  {
    name: 'revoke',
    call: ({ grantId }) => ({
      method: 'DELETE',
      path: `/v1/grants/${or(grantId, 'grant id')}`,
      typescript: `await behest.grants.revoke('${or(grantId, 'grant id')}');`,
      cli: `behest grants revoke ${or(grantId, 'grant id')}`,
    }),
    run: async ({ grantId = '' }) => {
      await api.DELETE('/v1/grants/{id}', { params: { path: { id: grantId } } });
      return { made: {}, answer: '204 No Content' };
    },
  },
  { name: 'again', call: verifyCall, run: verify },
  {
    name: 'call',
    call: ({ grantToken }) => ({
      method: 'POST',
      path: '/v1/enforce',
      body: { grantToken: or(grantToken, 'grant token'), ...TOOL },
      typescript: `const { allowed, reason } = await behest.enforce({
  grantToken: '${or(grantToken, 'grant token')}',
  connector: '${TOOL.connector}',
  tool: '${TOOL.tool}',
});`,
      cli: `behest enforce --grant-token ${or(grantToken, 'grant token')} --connector ${TOOL.connector} --tool ${TOOL.tool}`,
    }),
    run: async ({ grantToken = '', grantId = '' }) => {
      const body = { grantToken, ...TOOL };
      const answer = answered(await api.POST('/v1/enforce', { body: body as never }));
      const query = { grantId, action: 'tool.enforce', order: 'desc', limit: 1 } as const;
      const { entries } = answered(await api.GET('/v1/audit/entries', { params: { query } }));
      const entryId = entries[0]?.entryId;
      return { made: entryId === undefined ? {} : { entryId }, answer };
    },
  },
];

function verifyCall({ grantToken }: Made): Call {
  const token = or(grantToken, 'grant token');
  return {
    method: 'POST',
    path: '/v1/tokens/verify',
    body: { token },
    typescript: `const { valid } = await behest.tokens.verify('${token}');`,
    cli: `behest tokens verify ${token}`,
  };
}

async function verify({ grantToken = '' }: Made) {
  const answer = answered(await api.POST('/v1/tokens/verify', { body: { token: grantToken } }));
  return { made: {}, answer };
}

/** The person has said no, which the tour cannot go on from. */
export class Denied extends Error {}

const listed = (texts: readonly string[]) => `[${texts.map((text) => `'${text}'`).join(', ')}]`;

/** The call in each language. The key stays a placeholder, because the console has none. */
export function snippetsOf({ method, path, body, typescript, cli }: Call, address: string) {
  const json = body && JSON.stringify(body);
  const data = json && ` \\\n  -H 'content-type: application/json' \\\n  -d '${json}'`;
  return {
    curl: `curl ${method === 'GET' ? '' : `-X ${method} `}${address}${path} \\\n  -H "authorization: Bearer $BEHEST_API_KEY"${data ?? ''}`,
    TypeScript: typescript,
    Python: `requests.${method.toLowerCase()}(
    "${address}${path}",
    headers={"authorization": f"Bearer {os.environ['BEHEST_API_KEY']}"},${json ? `\n    json=${json.replaceAll(/\bfalse\b/g, 'False')},` : ''}
)`,
    CLI: cli,
  };
}
