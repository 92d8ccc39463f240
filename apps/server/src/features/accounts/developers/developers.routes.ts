import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { type CloseDeps, closeAccount } from './close.ts';
import { rates } from './developers.rates.ts';
import {
  AccountStop,
  CloseAccount,
  ClosedAccount,
  CreatedDeveloper,
  Developer,
  DeveloperChange,
  SignUp,
  StopAccount,
  UpdatedDeveloper,
} from './developers.schema.ts';
import { changeDeveloper, type DeveloperDeps, getDeveloper, signUp } from './manage.ts';
import { resumeAccount, stopAccount } from './stop.ts';

export const developerRoutes: FastifyPluginAsyncTypebox<DeveloperDeps & CloseDeps> = async (app, deps) => {
  app.post(
    '/v1/signup',
    {
      config: { access: 'none', rate: [rates.signup, rates.signupHourly], failures: ['SIGNUP_DISABLED'] },
      schema: {
        operationId: 'developers.signUp',
        summary: 'Create a developer account and its first API key',
        body: SignUp,
        response: { 201: CreatedDeveloper },
      },
    },
    async (request, reply) => reply.code(201).send(await signUp(deps, request.body, request.id)),
  );

  app.get(
    '/v1/me',
    {
      config: { access: 'developer', role: 'runtime', boundKeys: 'open', rate: 'default', failures: [] },
      schema: {
        operationId: 'developers.me',
        summary: 'Read the account of this API key',
        response: { 200: Developer },
      },
    },
    (request) => getDeveloper(deps, callerOf(request)),
  );

  app.patch(
    '/v1/me',
    {
      config: {
        access: 'developer',
        role: 'full',
        rate: 'default',
        failures: ['INVALID_REDIRECT_URI', 'NOT_CONFIGURED', 'CONFLICT'],
      },
      schema: {
        operationId: 'developers.change',
        summary: 'Change settings of the account',
        body: DeveloperChange,
        response: { 200: UpdatedDeveloper },
      },
    },
    (request) => changeDeveloper(depsFor(request, deps), callerOf(request), request.body),
  );

  app.post(
    '/v1/me/stop',
    {
      config: { access: 'developer', role: 'full', rate: 'default', failures: [] },
      schema: {
        operationId: 'developers.stop',
        summary: 'Stop every agent and grant of the account at once',
        body: StopAccount,
        response: { 200: AccountStop },
      },
    },
    (request) => stopAccount(depsFor(request, deps), callerOf(request), request.body),
  );

  app.post(
    '/v1/me/resume',
    {
      config: { access: 'developer', role: 'full', rate: 'default', failures: [] },
      schema: {
        operationId: 'developers.resume',
        summary: 'Lift the stop of the account',
        body: NoFields,
        response: { 200: AccountStop },
      },
    },
    (request) => resumeAccount(depsFor(request, deps), callerOf(request)),
  );

  app.post(
    '/v1/me/close',
    {
      config: { access: 'developer', role: 'full', rate: rates.keys, failures: ['CONFLICT'] },
      schema: {
        operationId: 'developers.close',
        summary: 'Close the account for good, and erase its data after 30 days',
        body: CloseAccount,
        response: { 202: ClosedAccount },
      },
    },
    async (request, reply) =>
      reply.code(202).send(await closeAccount(depsFor(request, deps), callerOf(request), request.body)),
  );
};
