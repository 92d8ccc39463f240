import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { registerVerifier, renewLease, type VerifierDeps } from './register.ts';
import { Lease, NewVerifier, Renewal, Verifier, VerifierPath } from './verifiers.schema.ts';

export const rates = rateRules({
  verifierRegister: {
    perMinute: 60,
    describes: 'registering verifiers, by developer',
    counts: [{ by: 'developer' }],
  },
  verifierRenew: {
    perMinute: 3000,
    describes: 'leases and confirmations of verifiers, by developer',
    counts: [{ by: 'developer' }],
  },
});

const ofVerifiers = {
  access: 'developer',
  capability: 'never',
  role: 'runtime',
  boundKeys: 'forbidden',
} as const;

export const verifierRoutes: FastifyPluginAsyncTypebox<VerifierDeps> = async (app, deps) => {
  app.post(
    '/v1/verifiers',
    {
      config: { ...ofVerifiers, rate: rates.verifierRegister, failures: ['TOO_MANY_CONNECTIONS'] },
      schema: {
        operationId: 'verifiers.register',
        summary: 'Register a verifier that confirms revocations',
        description:
          'A verifier has a lease while it renews it. It may answer from memory only while it has one, and only about what it asked after its registration.',
        body: NewVerifier,
        response: { 201: Verifier },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await registerVerifier(depsFor(request, deps), callerOf(request), request.body)),
  );

  // No `POST`: an answer that is kept for an `Idempotency-Key` would give a lease that has ended since.
  app.put(
    '/v1/verifiers/:id/lease',
    {
      config: { ...ofVerifiers, rate: rates.verifierRenew, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'verifiers.renew',
        summary: "Renew a verifier's lease, and confirm a revocation",
        description:
          'A verifier that owes a confirmation gets no lease. It forgets every answer, signs the position in `asked`, and renews again with it. Only the API key that registered a verifier may renew its lease.',
        params: VerifierPath,
        body: Renewal,
        response: { 200: Lease },
      },
    },
    (request) => renewLease(deps, callerOf(request), request.params.id, request.body),
  );
};
