import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { holderOf } from '../../../platform/http/callers/credentials.ts';
import { rates } from './credentials.rates.ts';
import { CredentialExchange, ExchangedCredential } from './exchange.schema.ts';
import { type ExchangeDeps, exchangeCredential } from './exchange.ts';

interface AnsweringDeps extends ExchangeDeps {
  /** @param status the class of an answer: `2xx`, `4xx` or `5xx` */
  readonly onExchangeAnswered: (status: string) => void;
}

export const exchangeRoutes: FastifyPluginAsyncTypebox<AnsweringDeps> = async (app, deps) => {
  // Refusals before the handler, of a bad token say, count too.
  app.addHook('onResponse', async (_, { statusCode }) =>
    deps.onExchangeAnswered(`${Math.floor(statusCode / 100)}xx`),
  );
  app.post(
    '/v1/vault/credentials/exchange',
    {
      config: {
        access: 'grant',
        takesExchanged: true,
        rate: rates.vaultExchange,
        failures: ['FORBIDDEN', 'NOT_FOUND', 'REAUTHORIZATION_REQUIRED', 'NOT_CONFIGURED', 'UPSTREAM_ERROR'],
      },
      schema: {
        operationId: 'vault.exchange',
        summary: "Get the principal's credential for a service with a grant token",
        description:
          'The token needs one of the scopes `*`, `<service>:*`, `<service>:read`, `<service>:credentials:read`, `vault:<service>:*`, `vault:<service>:read` or `vault:credentials:exchange`. The rate is counted by token.',
        body: CredentialExchange,
        response: { 200: ExchangedCredential },
      },
    },
    async (request, reply) => {
      reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
      return exchangeCredential(deps, holderOf(request), request.body);
    },
  );
};
