import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, test } from 'vitest';
import { authorize, grantTo, registerAgent } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import { onThisMachine, putProfile, through, untilWritten } from '../app/proxy.ts';
import type { Developer } from '../app/start-app.ts';
import * as vault from '../app/vault.ts';

const upstream = createServer((_request, response) => void response.end('{}')).listen(0, '127.0.0.1');
await once(upstream, 'listening');
afterAll(() => {
  upstream.closeAllConnections();
  upstream.close();
});
const { race } = interleaving({ env: onThisMachine });

const stop = ({ acme }: Side) => acme('POST', '/v1/me/stop', {});
const resume = ({ acme }: Side) => acme('POST', '/v1/me/resume', {});

async function withCode(acme: Developer) {
  const { agentId } = await registerAgent(acme);
  const { code } = await authorize(acme, agentId);
  return { agentId, code: String(code) };
}
const ask = ({ acme }: Side, { agentId }: { readonly agentId: string }) =>
  acme('POST', '/v1/authorize', { agentId, principalId: 'user_42', scopes: ['a:b'] });

test('R13: an authorization request and a stop', () =>
  race({ prepare: withCode, one: ask, other: stop, answers: ['201, 200', '409 AGENT_INACTIVE, 200'] }));
test('R13: an authorization request and the end of a stop', () =>
  race({
    async prepare(acme: Developer) {
      const held = await withCode(acme);
      await acme('POST', '/v1/me/stop', {});
      return held;
    },
    one: ask,
    other: resume,
    answers: ['409 AGENT_INACTIVE, 200', '201, 200'],
  }));
test('R13: an exchange and a stop', () =>
  race({
    prepare: withCode,
    one: ({ acme }, held) => acme('POST', '/v1/token', held),
    other: stop,
    answers: ['201, 200', '400 INVALID_GRANT agent_inactive, 200'],
  }));
test('R13: a refresh and a stop', () =>
  race({
    prepare: (acme) => grantTo(acme),
    one: ({ acme }, { agentId, refreshToken }) =>
      acme('POST', '/v1/token/refresh', { agentId, refreshToken }),
    other: stop,
    answers: ['201, 200', '400 INVALID_GRANT agent_inactive, 200'],
  }));
test('R13: a delegation and a stop', () =>
  race({
    prepare: (acme) => grantTo(acme),
    one: ({ acme }, { agentId, grantToken }) =>
      acme('POST', '/v1/grants/delegate', {
        parentGrantToken: grantToken,
        subAgentId: agentId,
        scopes: ['calendar:read'],
      }),
    other: stop,
    answers: ['201, 200', '400 INVALID_GRANT agent_inactive, 200'],
  }));
test('R13: an exchange of a credential and a stop', () =>
  race({
    async prepare(acme, service) {
      await vault.storeCredential(acme);
      const held = await grantTo(acme, { scopes: ['github:read'] });
      await vault.exchange(service, held.grantToken);
      return held;
    },
    one: ({ service }, { grantToken }) => vault.exchange(service, grantToken),
    other: stop,
    answers: ['200, 200', '401 UNAUTHORIZED, 200'],
  }));
const manifest = { $schema: 'x', connector: 'acme_pay', version: '1', tools: { transfer: 'write' } };

const transfer = ({ acme }: Pick<Side, 'acme'>, { grantToken }: { grantToken: string }) =>
  acme('POST', '/v1/enforce', { grantToken, connector: 'acme_pay', tool: 'transfer', arguments: {} });

test('R13: an enforced call and a stop', () =>
  race({
    async prepare(acme: Developer) {
      await acme('PUT', '/v1/manifests/acme_pay', manifest);
      const { grantToken } = await grantTo(acme, { scopes: ['tool:acme_pay:write'] });
      await transfer({ acme }, { grantToken }); // which notes the use of the token
      return { grantToken };
    },
    one: transfer,
    other: stop,
    answers: ['200, 200'],
  }));
test('R13: a call through the vault proxy and a stop', () =>
  race({
    async prepare(acme, service) {
      await putProfile(acme, `http://127.0.0.1:${Object(upstream.address()).port}`);
      await vault.storeCredential(acme);
      const held = await grantTo(acme, { scopes: ['vault:github:proxy'] });
      await through(service, held.grantToken, '/repos/a'); // which notes the use of the token
      return held;
    },
    one: ({ service }, { grantToken }) => through(service, grantToken, '/repos/a'),
    other: stop,
    answers: ['200, 200', '401 UNAUTHORIZED, 200'],
    look: ({ service, acme }) => untilWritten(service, acme),
  }));
test('R13: two stops', () => race({ prepare: async () => ({}), one: stop, answers: ['200, 200'] }));
test('R13: a stop and its end', () =>
  race({ prepare: async () => ({}), one: stop, other: resume, answers: ['200, 200'] }));
