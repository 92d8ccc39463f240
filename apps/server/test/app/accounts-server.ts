import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type GenerateKeyPairResult, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';
import { onTestFinished } from 'vitest';

/** The parts of the server that a test changes. */
interface Behaviour {
  /** The account that is signed in at the server. */
  account: string;
  /** Claims in the place of the server's own. */
  claims: object;
  /** The groups that the server says the account is in. */
  groups: readonly string[] | undefined;
  /** How (`amr`) and when (`ts`, in seconds) the account signed in. */
  signedIn: { readonly amr?: string[]; readonly ts?: number };
  /** The scopes that the person does not allow. */
  refused: readonly string[];
  /** Answers a request in place of the server, if it returns true. */
  instead: (request: IncomingMessage, respond: (status: number, body: object) => void) => boolean;
}

/**
 * An authorization server of another party, on this machine, at which people sign in without a form. It registers
 * clients by itself, rotates refresh tokens and names itself in its answers.
 */
export async function startAccountsServer() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${Object(server.address()).port}`;
  const behaviour: Behaviour = {
    account: 'ada',
    claims: {},
    groups: undefined,
    signedIn: {},
    refused: [],
    instead: () => false,
  };
  const provider: Provider = new Provider(issuer, {
    scopes: ['openid', 'offline_access', 'files:read', 'files:write'],
    claims: { openid: ['sub', 'groups', 'amr'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    features: {
      devInteractions: { enabled: false },
      revocation: { enabled: true },
      registration: { enabled: true },
    },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    ttl: {
      AccessToken: 3600,
      RefreshToken: 86_400,
      Grant: 86_400,
      Session: 3600,
      Interaction: 600,
      IdToken: 600,
    },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({
        sub,
        email: `${sub}@upstream.test`,
        email_verified: true,
        groups: behaviour.groups,
        amr: behaviour.signedIn.amr,
        ...behaviour.claims,
      }),
    }),
    async loadExistingGrant({ oidc }) {
      const { client, session, params } = oidc;
      const grant = new provider.Grant({
        ...(session?.accountId !== undefined && { accountId: session.accountId }),
        ...(client && { clientId: client.clientId }),
      });
      const wanted = String(params?.scope ?? '').split(' ');
      grant.addOIDCScope(wanted.filter((scope) => !behaviour.refused.includes(scope)).join(' '));
      grant.rejectOIDCScope(behaviour.refused.join(' '));
      await grant.save();
      return grant;
    },
  });
  const calls: string[] = [];
  const handle = provider.callback();
  server.on('request', (request, response) => {
    const path = String(request.url).split('?')[0] ?? '';
    calls.push(`${request.method} ${path}`);
    const respond = (status: number, body: object) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (behaviour.instead(request, respond)) return;
    if (!path.startsWith('/interaction/')) return void handle(request, response);
    const result = { login: { accountId: behaviour.account, ...behaviour.signedIn }, consent: {} };
    void provider.interactionFinished(request, response, result);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });

  return {
    issuer,
    behaviour,
    calls,
    /** How often the token endpoint was asked. */
    tokenCalls: () => calls.filter((call) => call === 'POST /token').length,
    accessTokenOf: async (token: string) => provider.AccessToken.find(token),
    /** Ends every refresh token of an account, as a person does at the upstream. */
    forget: async (refreshToken: string) => (await provider.RefreshToken.find(refreshToken))?.destroy(),
    /** Goes to the upstream as a browser that is not signed in there. @returns the address that it is sent back to */
    async visit(url: string): Promise<URL> {
      const jar = new Map<string, string>();
      let at = url;
      for (let steps = 0; new URL(at).origin === issuer; steps += 1) {
        if (steps > 20) throw new Error(`upstream: no end at ${at}`);
        const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
        const answer = await fetch(at, { redirect: 'manual', headers: { cookie } });
        for (const line of answer.headers.getSetCookie()) {
          const [pair = ''] = line.split(';');
          jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
        }
        const next = answer.headers.get('location');
        if (next === null) throw new Error(`upstream: ${answer.status} ${await answer.text()}`);
        at = new URL(next, at).href;
      }
      return new URL(at);
    },
  };
}

export type AccountsServer = Awaited<ReturnType<typeof startAccountsServer>>;

const kept: Promise<GenerateKeyPairResult>[] = [];
const MAX_KEPT = 6;
let turn = 0;

/**
 * A pair of RSA keys. Making one takes longer than most tests, so the tests of a worker share a few. Six that are asked
 * for one after the other differ.
 */
export function rsaKeys(): Promise<GenerateKeyPairResult> {
  const place = turn % MAX_KEPT;
  turn += 1;
  kept[place] ??= generateKeyPair('RS256', { extractable: true });
  return kept[place];
}
