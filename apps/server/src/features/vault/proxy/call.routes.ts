import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { leaveBodies } from '../../../platform/http/bodies/bodies.ts';
import { bearerOf, holderOf } from '../../../platform/http/callers/credentials.ts';
import { tailOf } from '../../../platform/http/routes/tails.ts';
import { callUpstream, type ProxyDeps, rates } from './call.ts';
import type { ProxyRequest } from './plan.ts';
import { CallPath } from './proxy.schema.ts';

const METHODS = {
  HEAD: 'Head',
  GET: 'Get',
  POST: 'Post',
  PUT: 'Put',
  PATCH: 'Patch',
  DELETE: 'Delete',
} as const;

/** The answer is the upstream's, so it has no shape of this service. */
const Passed = Type.Unsafe<unknown>(Type.Any({ description: "The upstream's answer, with its own status" }));

export const callRoutes: FastifyPluginAsyncTypebox<ProxyDeps> = async (app, deps) => {
  leaveBodies(app);
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (!reply.hasHeader('behest-proxy')) reply.header('behest-proxy', 'refused');
    done();
  });
  for (const [method, word] of Object.entries(METHODS)) {
    app.route({
      method: method as keyof typeof METHODS, // Object.entries forgets the names
      url: '/v1/vault/proxy/:service/:path',
      exposeHeadRoute: false,
      config: {
        access: 'grant',
        rate: rates.vaultProxy,
        streamsBody: true,
        keepsTail: true,
        metered: 'proxyCalls',
        meteredIf: (reply) => reply.getHeader('behest-proxy') === 'upstream',
        failures: [
          'FORBIDDEN',
          'PROXY_DENIED',
          'NOT_FOUND',
          'REAUTHORIZATION_REQUIRED',
          'METHOD_NOT_ALLOWED',
          'PAYLOAD_TOO_LARGE',
          'UNSUPPORTED_MEDIA_TYPE',
          'TOO_MANY_CONNECTIONS',
          'NOT_SUPPORTED',
          'UPSTREAM_ERROR',
          'NOT_CONFIGURED',
        ],
      },
      schema: {
        operationId: `vault.proxy${word}`,
        summary: `Call the upstream of a service with ${method}, through the vault`,
        description:
          'The agent sends its grant token in `Authorization`, and the service adds the credential of the principal. `path` is the path at the upstream, with slashes, and a query may follow. `Behest-Upstream` names another upstream of the profile than the first. `Behest-Proxy` is `upstream` on answers of the upstream, which pass with their status, and `refused` on all others.',
        params: CallPath,
        response: { 200: Passed },
      },
      handler: async (request, reply) => {
        const { status, headers, body } = await callUpstream(
          deps,
          holderOf(request),
          proxyRequestOf(request, reply, request.params.service),
        );
        // The types know the declared statuses, and this one is the upstream's.
        return reply
          .code(status as 200)
          .headers(headers)
          .serializer(String)
          .send(body);
      },
    });
  }
};

function proxyRequestOf(request: FastifyRequest, reply: FastifyReply, service: string): ProxyRequest {
  const leaving = new AbortController();
  reply.raw.once('close', () => leaving.abort());
  return {
    service,
    method: request.method,
    tail: tailOf(request),
    rawHeaders: request.raw.rawHeaders,
    grantToken: bearerOf(request) ?? '',
    body: request.raw,
    gone: leaving.signal,
  };
}
