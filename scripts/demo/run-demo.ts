import { inspect } from 'node:util';
import { checkChain } from '../../docs/guides/examples/check-chain.ts';
import { offlineVerifier } from '../../docs/guides/examples/verify-offline.ts';

const scopes = ['calendar:read', 'email:send'];
const principalId = 'user_42';

/**
 * Runs the life of a grant over HTTP alone, as a program beside the service does. The address is the public
 * address of the service, which its tokens name as issuer; the key belongs to a sandbox developer.
 * @throws at the first wrong answer
 */
export async function runDemo(narration: Narration) {
  const { baseUrl, say } = narration;
  const call = callsTo(narration);
  let steps = 0;
  const step = (title: string) => {
    steps += 1;
    say(`\n${steps}. ${title}`);
  };
  const verifyOnline = async (token: string) =>
    (await call('POST /v1/tokens/verify', { body: { token }, show: ['valid', 'reason', 'principal'] })).body;

  step('Register an agent');
  const agent = await call('POST /v1/agents', {
    body: { name: 'Travel agent', scopes },
    show: ['agentId', 'status'],
  });
  const agentId = textOf(agent.body, 'agentId');
  const developerId = textOf(agent.body, 'developerId');

  step('Ask for authority; in the sandbox the answer has the code');
  const asked = await call('POST /v1/authorize', {
    body: { agentId, principalId, scopes },
    show: ['authRequestId', 'status', 'code'],
  });
  if (!asked.body.sandbox) throw new Error('This key is a live developer’s; the demo needs a sandbox key.');

  step('Exchange the code for tokens');
  const code = textOf(asked.body, 'code');
  const issued = await call('POST /v1/token', {
    body: { agentId, code },
    show: ['grantId', 'grantToken', 'refreshToken', 'expiresAt'],
  });
  const grantId = textOf(issued.body, 'grantId');

  step('Verify offline, with the published keys alone');
  const jwksUrl = `${baseUrl}/.well-known/jwks.json`;
  const verifyOffline = offlineVerifier({ issuer: baseUrl, jwksUrl, developerId, allowSandbox: true });
  say('   GET /.well-known/jwks.json');
  const claims = await verifyOffline(textOf(issued.body, 'grantToken'));
  say(`   good: ${claims.client_id} acts for ${claims.sub} with ${claims.scope}`);

  step('Verify online');
  const online = await verifyOnline(textOf(issued.body, 'grantToken'));

  step('Refresh: the refresh token is spent for a new pair');
  const refreshed = await call('POST /v1/token/refresh', {
    body: { agentId, refreshToken: textOf(issued.body, 'refreshToken') },
    show: ['grantId', 'grantToken', 'refreshToken', 'expiresAt'],
  });

  step('Ask again, and leave the decision open');
  const open = await call('POST /v1/authorize', {
    body: { agentId, principalId, scopes: ['calendar:read'], autoApprove: false },
    show: ['authRequestId', 'status', 'consentUrl'],
  });
  say('   A person would decide at consentUrl. In the sandbox a call can stand in for them:');
  const decided = await call(`POST /v1/authorize/${textOf(open.body, 'authRequestId')}/approve`, {
    show: ['status', 'code'],
  });
  const second = await call('POST /v1/token', {
    body: { agentId, code: textOf(decided.body, 'code') },
    show: ['grantId', 'grantToken'],
  });

  step('Revoke the first grant; its tokens are no longer good, the other grant’s are');
  await call(`DELETE /v1/grants/${grantId}`);
  const afterRevoking = await verifyOnline(textOf(refreshed.body, 'grantToken'));
  const untouched = await verifyOnline(textOf(second.body, 'grantToken'));
  const { exp = 0 } = await verifyOffline(textOf(refreshed.body, 'grantToken'));
  const end = new Date(exp * 1000).toISOString();
  say(`   Offline nothing shows of a revocation: there the revoked token is good until ${end}.`);

  step('Revoke the agent; every grant it holds falls with it');
  await call(`DELETE /v1/agents/${agentId}`);
  const afterAgent = await verifyOnline(textOf(second.body, 'grantToken'));

  step('Check the audit chain, by asking and by recomputing every hash here');
  const asserted = await call('GET /v1/audit/verify', { show: ['valid', 'checkedEntries'] });
  say('   GET /v1/audit/entries?limit=500 …');
  const recomputed = await checkChain(narration);
  say(
    `   ${recomputed.valid ? 'good' : `broken: ${recomputed.problem}`}: ${recomputed.checkedEntries} entries`,
  );

  const outcome = {
    claims,
    online,
    afterRevoking,
    untouched,
    afterAgent,
    asserted: asserted.body,
    recomputed,
  };
  mustBeAsPromised(outcome);
  say('\nAll as it has to be.');
  return outcome;
}

type Verdict = Readonly<Record<string, unknown>>;

function mustBeAsPromised(outcome: Readonly<Record<string, Verdict | { readonly valid: boolean }>>): void {
  const expected = {
    online: true,
    afterRevoking: false,
    untouched: true,
    afterAgent: false,
    asserted: true,
    recomputed: true,
  };
  for (const [name, valid] of Object.entries(expected)) {
    if (outcome[name]?.valid !== valid) throw new Error(`${name} is not as it has to be.`);
  }
}

interface Narration {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly say: (line: string) => void;
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Request {
  readonly body?: object;
  /** The members of the answer to print; the others would fill the screen. */
  readonly show?: readonly string[];
}

const LONGEST_SHOWN = 40; // characters; ids are shorter, secrets are longer
const SHOWN_OF_SECRETS = 12;

/** Makes calls, and prints each with its answer. */
function callsTo({ baseUrl, apiKey, say }: Narration) {
  /** @throws when the answer is an error, with its text */
  return async (route: string, { body, show = [] }: Request = {}): Promise<Answer> => {
    const [method = '', path = ''] = route.split(' ');
    say(`   ${route}${body ? ` ${told(body)}` : ''}`);
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    }).catch((cause: Error) => {
      throw new Error(`Nothing answers at ${baseUrl}; does \`npm start\` run?`, { cause });
    });
    const text = await response.text();
    const answer: Answer = { status: response.status, body: text ? JSON.parse(text) : {} };
    if (!response.ok)
      throw new Error(`${route} was answered ${answer.status}: ${textOf(answer.body, 'message')}`);
    say(`   ${answer.status}${show.length > 0 ? ` ${told(only(answer.body, show))}` : ''}`);
    return answer;
  };
}

function textOf(members: Readonly<Record<string, unknown>>, name: string): string {
  const value = members[name];
  if (typeof value !== 'string') throw new Error(`There is no text \`${name}\` in ${inspect(members)}.`);
  return value;
}

function only(members: Readonly<Record<string, unknown>>, names: readonly string[]): object {
  return Object.fromEntries(names.filter((name) => name in members).map((name) => [name, members[name]]));
}

/** Prints on one line, and shortens codes, tokens and tickets to the part that differs. */
function told(members: object): string {
  return JSON.stringify(members, (_name, value) => (typeof value === 'string' ? shortened(value) : value));
}

function shortened(text: string): string {
  const [address = '', fragment] = text.split('#'); // the ticket of a consent page is its address's fragment
  if (fragment !== undefined) return `${address}#…`;
  return text.length > LONGEST_SHOWN ? `${text.slice(0, SHOWN_OF_SECRETS)}…` : text;
}
