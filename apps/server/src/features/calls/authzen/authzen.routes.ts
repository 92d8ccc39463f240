import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { finished } from '../../../platform/finished.ts';
import { sendFinished } from '../../../platform/http/answers/send.ts';
import { sentBytesOf } from '../../../platform/http/bodies/bodies.ts';
import { callerAs } from '../../../platform/http/callers/credentials.ts';
import { depsFor, repeatIdOf } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import {
  AuthzenMetadata,
  EvaluationRequest,
  EvaluationResponse,
  EvaluationsRequest,
  EvaluationsResponse,
} from './authzen.schema.ts';
import { type AuthzenDeps, type EnforcingPoint, evaluate, evaluateTogether } from './evaluate.ts';

export const rates = rateRules({
  authzen: {
    perMinute: 600,
    describes: 'evaluations of AuthZEN, by resource; those of a developer count against the plan',
    counts: [{ by: 'token' }],
  },
});

interface RouteDeps extends AuthzenDeps {
  readonly publicBaseUrl: string;
}

const WELL_KNOWN = '/.well-known/authzen-configuration';
const HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'public, max-age=300',
} as const;

const config = {
  access: 'developer',
  role: 'runtime',
  boundKeys: 'own agents',
  takesResources: true,
  badMediaType: 'BAD_REQUEST',
  keepsBytes: true,
  rate: rates.authzen,
  failures: [],
} as const;

/** @see OpenID AuthZEN Authorization API 1.0 */
export const authzenRoutes: FastifyPluginAsyncTypebox<RouteDeps> = async (app, deps) => {
  app.post(
    '/access/v1/evaluation',
    {
      config: { ...config, capability: 'never' },
      schema: {
        operationId: 'authzen.evaluate',
        summary: 'Ask whether a call of a tool may happen now, in the words of AuthZEN',
        description:
          'A denial is an answer, with status 200: read `decision`. A permit charges the caps of its call, unless `context.check_only` is true.',
        body: EvaluationRequest,
        response: { 200: EvaluationResponse },
      },
    },
    (request) => evaluate(depsFor(request, deps), pointOf(request), request.body),
  );

  app.post(
    '/access/v1/evaluations',
    {
      config: { ...config, capability: 'never' },
      schema: {
        operationId: 'authzen.evaluateTogether',
        summary: 'Ask about several calls of tools, in the words of AuthZEN',
        description:
          'Each evaluation counts as one request, and is judged, charged and recorded by itself. A batch that fails gives back what it took.',
        body: EvaluationsRequest,
        response: { 200: Type.Union([EvaluationsResponse, EvaluationResponse]) },
      },
    },
    (request) => evaluateTogether(depsFor(request, deps), pointOf(request), request.body),
  );

  const document: AuthzenMetadata = {
    policy_decision_point: deps.publicBaseUrl,
    access_evaluation_endpoint: `${deps.publicBaseUrl}/access/v1/evaluation`,
    access_evaluations_endpoint: `${deps.publicBaseUrl}/access/v1/evaluations`,
  };
  const metadata = finished(JSON.stringify(document));
  app.get(
    WELL_KNOWN,
    {
      config: { access: 'none', rate: 'unlimited', isPublic: true, failures: [] },
      schema: {
        operationId: 'authzen.metadata',
        summary: 'Read the metadata of the policy decision point (AuthZEN)',
        response: { 200: Type.Unsafe<string>(AuthzenMetadata), 304: Type.Null() },
      },
    },
    async (request, reply) => sendFinished(request, reply, metadata, HEADERS),
  );
};

function pointOf(request: FastifyRequest): EnforcingPoint {
  const by = callerAs(request, 'key', 'resource');
  return {
    caller: by.caller,
    server: by.kind === 'resource' ? by.server : null,
    text: sentBytesOf(request).toString(),
    chargeMore: by.chargeMore,
    repeatId: repeatIdOf(request),
  };
}
