import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { holderOf } from '../../../platform/http/callers/credentials.ts';
import { Exchange, ExchangedCredential } from './credentials.exchange.schema.ts';
import { type ExchangeDeps, exchangeCredential } from './credentials.exchange.service.ts';
import { rates } from './credentials.rates.ts';

export const exchangeRoutes: FastifyPluginAsyncTypebox<ExchangeDeps> = async (app, deps) => {
  app.post(
    '/v1/vault/credentials/exchange',
    {
      config: {
        access: 'grant',
        rate: rates.vaultExchange,
        failures: ['FORBIDDEN', 'NOT_FOUND', 'REAUTHORIZATION_REQUIRED', 'NOT_CONFIGURED', 'UPSTREAM_ERROR'],
      },
      schema: {
        operationId: 'vault.exchange',
        summary: "Get the principal's credential for a service with a grant token",
        description:
          'The token needs one of the scopes `*`, `<service>:*`, `<service>:read`, `<service>:credentials:read`, `vault:<service>:*`, `vault:<service>:read` or `vault:credentials:exchange`. The rate is counted by token.',
        body: Exchange,
        response: { 200: ExchangedCredential },
      },
    },
    async (request, reply) => {
      reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
      return exchangeCredential(deps, holderOf(request), request.body);
    },
  );
};
