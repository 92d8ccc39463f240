import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operatorOf } from '../../../platform/http/callers/credentials.ts';
import { generalRates } from '../../../platform/http/limits/rate-rules.ts';
import { type AdminDeps, addDeveloper, changePlan, countDeployment, listDevelopers } from './administer.ts';
import {
  CreatedDeveloper,
  DeploymentStats,
  DeveloperListQuery,
  DeveloperPage,
  DeveloperPath,
  DeveloperPlan,
  DeveloperPlanChange,
  SignUp,
} from './developers.schema.ts';

const ofOperator = { access: 'operator', rate: generalRates.admin } as const;

export const developerAdminRoutes: FastifyPluginAsyncTypebox<AdminDeps> = async (app, deps) => {
  app.get(
    '/v1/admin/stats',
    {
      config: { ...ofOperator, failures: [] },
      schema: {
        operationId: 'developers.stats',
        summary: 'Count the accounts of the deployment, and their agents and grants',
        response: { 200: DeploymentStats },
      },
    },
    () => countDeployment(deps),
  );

  app.get(
    '/v1/admin/developers',
    {
      config: { ...ofOperator, failures: [] },
      schema: {
        operationId: 'developers.list',
        summary: 'List the accounts of the deployment, newest first',
        querystring: DeveloperListQuery,
        response: { 200: DeveloperPage },
      },
    },
    (request) => listDevelopers(deps, request.query),
  );

  app.post(
    '/v1/admin/developers',
    {
      config: { ...ofOperator, failures: [] },
      schema: {
        operationId: 'developers.create',
        summary: 'Open an account with its first API key, also where sign-up is closed',
        body: SignUp,
        response: { 201: CreatedDeveloper },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await addDeveloper(deps, operatorOf(request), request.body)),
  );

  app.patch(
    '/v1/admin/developers/:id/plan',
    {
      config: { ...ofOperator, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'developers.setPlan',
        summary: 'Set the plan of an account',
        params: DeveloperPath,
        body: DeveloperPlanChange,
        response: { 200: DeveloperPlan },
      },
    },
    (request) => changePlan(deps, operatorOf(request), request.params.id, request.body),
  );
};
