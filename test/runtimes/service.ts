import { once } from 'node:events';
import { createServer } from 'node:http';
import { createTestIssuer } from '@behest/sdk/testing';

/** Serves the keys of an issuer and two pages of agents, to programs of other runtimes. */
export async function startService() {
  const { issuer, developerId, jwks, signGrantToken, tampered } = await createTestIssuer();
  const answers: Readonly<Record<string, object>> = {
    '/.well-known/jwks.json': jwks,
    '/v1/agents': { agents: [{ id: 'ag_1' }], nextCursor: 'next' },
    '/v1/agents?cursor=next': { agents: [{ id: 'ag_2' }], nextCursor: null },
  };
  const server = createServer(({ url = '' }, response) => {
    const answer = answers[url];
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { code: 'NOT_FOUND', message: 'There is no such thing.' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = Object(server.address());
  const [token, changed] = await Promise.all([signGrantToken({ sub: 'user_42' }), tampered()]);
  return {
    asked: { address: `http://127.0.0.1:${port}`, issuer, developerId, token, changed },
    async stop(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
