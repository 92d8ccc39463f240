import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { type FailureDeps, getFailedRequest, groupFailedRequests, listFailedRequests } from './read.ts';
import {
  FailedRequest,
  FailedRequestGroups,
  FailedRequestPage,
  FailedRequestPath,
  FailedRequestQuery,
} from './requests.schema.ts';

export const requestRoutes: FastifyPluginAsyncTypebox<FailureDeps> = async (app, deps) => {
  const config = {
    access: 'developer',
    capability: 'read',
    role: 'full',
    rate: 'default',
    failures: [],
  } as const;

  app.get(
    '/v1/requests',
    {
      config,
      schema: {
        operationId: 'requests.list',
        summary: 'List failed requests of 72 hours, newest first',
        description:
          'Requests with an API key of the account whose status was 400 or above. No body, header, query or path is kept.',
        querystring: FailedRequestQuery,
        response: { 200: FailedRequestPage },
      },
    },
    (request) => listFailedRequests(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/requests/groups',
    {
      config,
      schema: {
        operationId: 'requests.groups',
        summary: 'Count failed requests of 72 hours by code and operation',
        response: { 200: FailedRequestGroups },
      },
    },
    (request) => groupFailedRequests(deps, callerOf(request)),
  );

  app.get(
    '/v1/requests/:requestId',
    {
      config: { ...config, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'requests.get',
        summary: 'Read a failed request by its request id',
        params: FailedRequestPath,
        response: { 200: FailedRequest },
      },
    },
    (request) => getFailedRequest(deps, callerOf(request), request.params.requestId),
  );
};
