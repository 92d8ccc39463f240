import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DEVELOPER, startIssuer } from '../test/issuer.ts';
import { Behest } from './behest.ts';
import { createDpopKey } from './dpop.ts';
import * as forExpress from './express.ts';
import { behestAuth, enforceTool } from './fastify.ts';
import * as forHono from './hono.ts';
import type { GuardOptions, ProofRules } from './http/guard.ts';

const ORIGIN = 'https://api.example.test'; // clients come through a proxy

/** Each serves `/who`. */
const servers: Readonly<Record<string, (options: GuardOptions) => Promise<string>>> = {
  async express(options) {
    const app = express();
    const routes = express.Router(); // a router hides the beginning of the path
    routes.get('/', forExpress.requireGrantToken(options), (request: forExpress.ExpressRequest, response) => {
      response.json(request.grant?.principalId);
    });
    app.use('/who', routes);
    return listening(createServer(app).listen(0));
  },
  async fastify(options) {
    const app = fastify();
    await app.register(async (guarded) => {
      await behestAuth(guarded, options);
      guarded.get('/who', (request, reply) => reply.send(JSON.stringify(request.grant?.principalId)));
    });
    onTestFinished(() => app.close());
    return app.listen({ port: 0 });
  },
  async hono(options) {
    const app = new Hono<{ Variables: forHono.BehestVariables }>();
    app.use('*', forHono.requireGrantToken(options));
    app.get('/who', (context) => context.json(context.get('grant').principalId));
    return listening(serve({ fetch: app.fetch, port: 0, overrideGlobalObjects: false }));
  },
};

async function listening(server: { address(): unknown; close(): unknown }): Promise<string> {
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each(Object.entries(servers))(
  'the middleware of %s takes a bound token with its proof alone',
  async (_, start) => {
    const issuer = await startIssuer();
    const key = await createDpopKey();
    const token = await issuer.token({ cnf: { jkt: key.thumbprint } });
    const plain = await issuer.token();
    const seen = new Set<string>();
    const address = await start({
      ...{ jwksUri: issuer.jwksUri, developerId: DEVELOPER },
      dpop: { origin: ORIGIN, seen: (id) => seen.size === seen.add(id).size },
    });
    const ask = async (authorization: string, dpop?: string) => {
      const answer = await fetch(`${address}/who?a=b`, {
        headers: { authorization, ...(dpop !== undefined && { dpop }) },
      });
      return {
        status: answer.status,
        body: await answer.json(),
        challenge: answer.headers.get('www-authenticate'),
      };
    };
    const proof = (accessToken = token, url = `${ORIGIN}/who`) => key.proof('GET', url, { accessToken });
    const good = await proof();

    expect(await ask(`DPoP ${token}`, good)).toMatchObject({ status: 200, body: 'user_42' });
    expect(await ask(`DPoP ${token}`, good)).toMatchObject({ status: 401 }); // it came before
    expect(await ask(`Bearer ${plain}`)).toMatchObject({ status: 200 });
    expect(await ask(`Bearer ${token}`, await proof())).toMatchObject({
      ...{ status: 401, challenge: 'Bearer error="invalid_token", DPoP algs="ES256 RS256 EdDSA"' },
      body: { code: 'TOKEN_INVALID' },
    });
    expect(await ask(`DPoP ${token}`)).toMatchObject({ status: 401 });
    expect(await ask(`DPoP ${plain}`, await proof(plain))).toMatchObject({ status: 401 });
    expect(await ask(`DPoP ${token}`, await proof(token, `${ORIGIN}/other`))).toMatchObject({ status: 401 });
    expect(await ask(`DPoP ${token}`, await proof(token, `${address}/who`))).toMatchObject({ status: 401 });

    const elsewhere = 'https://evil.example';
    const statusOf = async (line: string, host: string) => {
      const headers = { authorization: `DPoP ${token}`, dpop: await proof(token, `${host}/who`) };
      const [answer]: IncomingMessage[] = await once(get(address, { path: line, headers }), 'response');
      answer?.resume();
      return answer?.statusCode;
    };
    // The sender writes the request line, so its host proves nothing.
    for (const line of [`${elsewhere}/who`, '//evil.example/who', '//', 'http://a:99999/who'])
      expect([401, 404, 400]).toContain(await statusOf(line, elsewhere));
    expect(await statusOf('/who', ORIGIN)).toBe(200);
  },
);

test('a middleware without rules for proofs refuses a bound token', async () => {
  const issuer = await startIssuer();
  const key = await createDpopKey();
  const accessToken = await issuer.token({ cnf: { jkt: key.thumbprint } });
  const address = await servers.express?.({ jwksUri: issuer.jwksUri, developerId: DEVELOPER });

  for (const scheme of ['Bearer', 'DPoP']) {
    const headers = {
      authorization: `${scheme} ${accessToken}`,
      dpop: await key.proof('GET', `${address}/who`, { accessToken }),
    };
    expect((await fetch(`${address}/who`, { headers })).status).toBe(401);
  }
});

/** Each serves `POST /tools/lookup`, with a guard before it where there are settings for one. */
const toolServers: Readonly<Record<string, (tool: Served, guard?: GuardOptions) => Promise<string>>> = {
  async express({ behest, route }, guard) {
    const app = express();
    const routes = express.Router();
    if (guard) routes.use(forExpress.requireGrantToken(guard));
    const enforced = forExpress.enforceTool(behest, route);
    routes.post('/lookup', express.json(), enforced, (request: forExpress.ExpressRequest, response) => {
      response.json(request.enforcement?.tool);
    });
    app.use('/tools', routes);
    return listening(createServer(app).listen(0));
  },
  async fastify({ behest, route }, guard) {
    const app = fastify();
    await app.register(async (guarded) => {
      if (guard) await behestAuth(guarded, guard);
      const preHandler = enforceTool(behest, route);
      guarded.post('/tools/lookup', { preHandler, config: Object({}) }, (request, reply) =>
        reply.send(JSON.stringify(request.enforcement?.tool)),
      );
    });
    onTestFinished(() => app.close());
    return app.listen({ port: 0 });
  },
  async hono({ behest, route }, guard) {
    const app = new Hono<{ Variables: forHono.BehestVariables }>();
    if (guard) app.use('*', forHono.requireGrantToken(guard));
    app.post('/tools/lookup', forHono.enforceTool(behest, route), (context) =>
      context.json(context.get('enforcement').tool),
    );
    return listening(serve({ fetch: app.fetch, port: 0, overrideGlobalObjects: false }));
  },
};

interface Served {
  readonly behest: Behest;
  readonly route: { readonly connector: 'crm'; readonly tool: 'lookup'; readonly dpop?: ProofRules };
}

const manifest = { connector: 'crm', tools: { lookup: 'read' } };
const PROVED = `${ORIGIN}/tools/lookup`;

describe.each(Object.entries(toolServers))('enforceTool of %s', (_, open) => {
  async function start(rules?: ProofRules, guarded?: ProofRules) {
    const issuer = await startIssuer();
    const key = await createDpopKey();
    const claims = { scp: ['tool:crm:read'] };
    const token = await issuer.token({ ...claims, cnf: { jkt: key.thumbprint } });
    const behest = new Behest({
      ...{ apiKey: null, baseUrl: issuer.url, developerId: DEVELOPER, manifests: [manifest] },
    });
    const guard = guarded && { jwksUri: issuer.jwksUri, developerId: DEVELOPER, dpop: guarded };
    const route = { connector: 'crm', tool: 'lookup', ...(rules && { dpop: rules }) } as const;
    const address = await open({ behest, route }, guard);
    const call = async (authorization: string, dpop?: string) => {
      const headers = {
        ...{ authorization, 'content-type': 'application/json' },
        ...(dpop !== undefined && { dpop }),
      };
      const answer = await fetch(`${address}/tools/lookup?a=b`, { method: 'POST', headers, body: '{}' });
      const challenge = answer.headers.get('www-authenticate');
      return { status: answer.status, body: await answer.json(), challenge };
    };
    const proof = (url = PROVED, accessToken = token) => key.proof('POST', url, { accessToken });
    return { call, proof, token, plain: await issuer.token(claims) };
  }

  test('takes a bound token with its proof alone', async () => {
    const seen = new Set<string>();
    const once = { origin: ORIGIN, seen: (id: string) => seen.size === seen.add(id).size };
    const { call, proof, token, plain } = await start(once);
    const good = await proof();

    expect(await call(`DPoP ${token}`, good)).toMatchObject({ status: 200, body: 'lookup' });
    expect(await call(`DPoP ${token}`, good)).toMatchObject({ status: 401 }); // it came before
    expect(await call(`Bearer ${plain}`)).toMatchObject({ status: 200, body: 'lookup' });
    expect(await call(`DPoP ${token}`)).toMatchObject({
      ...{ status: 401, challenge: 'Bearer error="invalid_token", DPoP algs="ES256 RS256 EdDSA"' },
      body: { code: 'TOKEN_INVALID' },
    });
    expect(await call(`Bearer ${token}`, await proof())).toMatchObject({ status: 401 });
    expect(await call(`DPoP ${plain}`, await proof(PROVED, plain))).toMatchObject({ status: 401 });
    expect(await call(`DPoP ${token}`, await proof(`${ORIGIN}/tools/drop`))).toMatchObject({ status: 401 });
  });

  test('without rules refuses a bound token', async () => {
    const { call, proof, token, plain } = await start();

    expect(await call(`DPoP ${token}`, await proof())).toMatchObject({ status: 401 });
    expect(await call(`Bearer ${token}`, await proof())).toMatchObject({ status: 401 });
    expect(await call(`Bearer ${plain}`)).toMatchObject({ status: 200 });
  });

  test('takes the key that the guard before it has checked, since a proof is good once', async () => {
    const seen = new Set<string>();
    const once = { origin: ORIGIN, seen: (id: string) => seen.size === seen.add(id).size };
    const { call, proof, token, plain } = await start(undefined, once);

    expect(await call(`DPoP ${token}`, await proof())).toMatchObject({ status: 200, body: 'lookup' });
    expect(await call(`Bearer ${plain}`)).toMatchObject({ status: 200 });
    expect(await call(`DPoP ${token}`)).toMatchObject({ status: 401 });
  });
});
