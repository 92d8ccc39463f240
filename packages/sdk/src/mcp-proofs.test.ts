import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { memoryMeter } from '@behest/meter/memory-meter';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { expect, onTestFinished, test } from 'vitest';
import { DEVELOPER, startIssuer } from '../test/issuer.ts';
import { filesManifest, filesServer } from '../test/mcp-files.ts';
import { Behest } from './behest.ts';
import { createDpopKey } from './dpop.ts';
import { protectedResourceMetadata, protectMcp, withToolEnforcement } from './mcp.ts';

const ORIGIN = 'https://files.example.test'; // clients come through a proxy
const resource = `${ORIGIN}/mcp`;
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
const call = (name: string) => ({
  jsonrpc: '2.0',
  id: 2,
  method: 'tools/call',
  params: { name, arguments: {} },
});

async function start(takesProofs: boolean) {
  const issuer = await startIssuer();
  const key = await createDpopKey();
  const behest = new Behest({
    ...{ apiKey: null, baseUrl: issuer.url, developerId: DEVELOPER },
    ...{ manifests: [filesManifest], meter: memoryMeter() },
  });
  const seen = new Set<string>();
  const proofs = { origin: ORIGIN, seen: (id: string) => seen.size === seen.add(id).size };
  const options = { resource, authorizationServer: issuer.url, ...(takesProofs && { dpop: proofs }) };
  const guarded = protectMcp(
    async (request, response) => {
      const { server } = filesServer({ describes: 'Reads a file.' });
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
      await withToolEnforcement(server, behest, { connector: 'files' }).connect(transport);
      await transport.handleRequest(request, response, request.body);
    },
    { ...options, connector: 'files', behest },
  );
  const http = createServer((request, response) => void guarded(request, response)).listen(0, '127.0.0.1');
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  await new Promise((resolve) => http.once('listening', resolve));
  const address = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const claims = { aud: resource, scp: ['tool:files:read'] };
  const token = await issuer.token({ ...claims, cnf: { jkt: key.thumbprint } });
  const ask = async (body: object, authorization: string, dpop?: string) => {
    const answer = await fetch(address, {
      method: 'POST',
      headers: {
        ...{
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          authorization,
        },
        ...(dpop !== undefined && { dpop }),
      },
      body: JSON.stringify(body),
    });
    const { status, headers } = answer;
    return { status, body: await answer.json(), challenge: headers.get('www-authenticate') };
  };
  const proof = (accessToken = token, url = resource) => key.proof('POST', url, { accessToken });
  return { options, token, plain: await issuer.token(claims), ask, proof };
}

test('a bound token lists and calls tools with a proof for each request, and not without', async () => {
  const { options, token, plain, ask, proof } = await start(true);
  const good = await proof();

  expect(await ask(list, `DPoP ${token}`, good)).toMatchObject({
    ...{ status: 200, body: { result: { tools: [{ name: 'read_file' }, { name: 'list_files' }] } } },
  });
  expect(await ask(list, `DPoP ${token}`, good)).toMatchObject({ status: 401 }); // it came before
  const called = await ask(call('list_files'), `DPoP ${token}`, await proof());
  expect(called).toMatchObject({
    ...{ status: 200, body: { result: { content: [{ text: 'list_files was called' }] } } },
  });
  expect(await ask(call('delete_file'), `DPoP ${token}`, await proof())).toMatchObject({ status: 403 });
  expect(await ask(list, `Bearer ${plain}`)).toMatchObject({ status: 200 });

  const wrong = await ask(list, `Bearer ${token}`, await proof());
  expect(wrong).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
  expect(wrong.challenge).toContain('DPoP algs="ES256 RS256 EdDSA"');
  expect(await ask(list, `DPoP ${token}`)).toMatchObject({ status: 401 });
  expect(await ask(list, `DPoP ${plain}`, await proof(plain))).toMatchObject({ status: 401 });
  expect(await ask(list, `DPoP ${token}`, await proof(token, `${ORIGIN}/other`))).toMatchObject({
    status: 401,
  });
  expect(protectedResourceMetadata(options)).toMatchObject({
    dpop_signing_alg_values_supported: ['ES256', 'RS256', 'EdDSA'],
  });
});

test('a server that was told no origin refuses bound tokens', async () => {
  const { options, token, ask, proof } = await start(false);

  for (const scheme of ['Bearer', 'DPoP'])
    expect(await ask(list, `${scheme} ${token}`, await proof())).toMatchObject({ status: 401 });
  expect(protectedResourceMetadata(options)).not.toHaveProperty('dpop_signing_alg_values_supported');
});
