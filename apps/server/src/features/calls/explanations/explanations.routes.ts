import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { type ExplainDeps, explainEntry } from './explain.ts';
import { Explanation, ExplanationPath } from './explanations.schema.ts';

export const explanationRoutes: FastifyPluginAsyncTypebox<ExplainDeps> = async (app, deps) => {
  app.get(
    '/v1/audit/:id/explanation',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'full',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'audit.explain',
        summary:
          'Explain the answer to a call or a refused request: each check with its facts, and what would allow it',
        description:
          'For entries `tool.enforce`, and for requests of consent and delegations that were refused: `authorization.blocked`, `policy.denied` and `authorization.scope_refused`. A fact is what the entry recorded, or what is true now, and says which. No argument’s value is kept, so none is shown.',
        params: ExplanationPath,
        response: { 200: Explanation },
      },
    },
    (request) => explainEntry(deps, callerOf(request), request.params.id),
  );
};
