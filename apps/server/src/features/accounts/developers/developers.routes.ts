import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { samplePage } from '../../../platform/http/answers/plain-page.ts';
import { sendFinished } from '../../../platform/http/answers/send.ts';
import { callerOf, operatorOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { generalRates } from '../../../platform/http/limits/rate-rules.ts';
import { type AdminDeps, addDeveloper, changePlan, countDeployment, listDevelopers } from './administer.ts';
import {
  type BrandDeps,
  changeBranding,
  getBranding,
  getLogo,
  previewBranding,
  removeBranding,
} from './brand.ts';
import { type CloseDeps, closeAccount } from './close.ts';
import { rates } from './developers.rates.ts';
import {
  AccountStop,
  Branding,
  BrandingChange,
  BrandingPreview,
  CloseAccount,
  ClosedAccount,
  CreatedDeveloper,
  DeploymentStats,
  Developer,
  DeveloperChange,
  DeveloperListQuery,
  DeveloperPage,
  DeveloperPath,
  DeveloperPlan,
  DeveloperPlanChange,
  LogoPath,
  SignUp,
  StopAccount,
  UpdatedDeveloper,
} from './developers.schema.ts';
import { changeDeveloper, type DeveloperDeps, getDeveloper, signUp } from './manage.ts';
import { resumeAccount, stopAccount } from './stop.ts';

type Deps = DeveloperDeps & CloseDeps & BrandDeps;

const Logo = {
  description: 'A PNG that the service has drawn',
  content: { 'image/png': { schema: Type.Unsafe<Buffer>(Type.String({ format: 'binary' })) } },
};

/** Settings that decide how people consent, and what is enforced. */
const GOVERNED = [
  ...['consentMode', 'consentKeys', 'redirectUris', 'policyAutoApproval', 'capsMode', 'fidoRequired'],
  ...[
    'manifestPinning',
    'reconsentAfterDays',
    'reconsentOnAgentChange',
    'fourEyesAssurance',
    'relaxFourEyes',
  ],
  ...[
    'auditRetentionDays',
    'auditPrivateKeys',
    'enforceAgentScopes',
    'maxDelegationDepth',
    'connectLoginUrl',
  ],
];
function governing(body: unknown) {
  if (Object(body).requireTwoForLoosening !== undefined) return 'own';
  return GOVERNED.some((name) => Object(body)[name] !== undefined) ? 'govern' : undefined;
}

export const developerRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
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
      config: {
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'open',
        rate: 'default',
        failures: [],
      },
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
        capability: 'configure',
        capabilityFor: governing,
        mayLoosen: true,
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

  app.get(
    '/v1/me/branding',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'open',
        rate: 'default',
        failures: [],
      },
      schema: {
        operationId: 'developers.branding',
        summary: 'Read how the pages for people show the account',
        response: { 200: Branding },
      },
    },
    (request) => getBranding(deps, callerOf(request)),
  );

  app.patch(
    '/v1/me/branding',
    {
      config: {
        access: 'developer',
        capability: 'configure',
        role: 'full',
        rate: rates.branding,
        failures: [],
      },
      schema: {
        operationId: 'developers.changeBranding',
        summary: 'Set the logo and the colour with which the pages for people show the account',
        body: BrandingChange,
        response: { 200: Branding },
      },
    },
    (request) => changeBranding(depsFor(request, deps), callerOf(request), request.body),
  );

  app.post(
    '/v1/me/branding/preview',
    {
      config: { access: 'developer', capability: 'read', role: 'full', rate: rates.branding, failures: [] },
      schema: {
        operationId: 'developers.previewBranding',
        summary: 'See how the pages for people would show the account',
        description: 'Changes nothing. What the body leaves out is shown as it is now.',
        body: BrandingChange,
        response: { 200: BrandingPreview },
      },
    },
    async (request) => ({
      html: samplePage(await previewBranding(depsFor(request, deps), callerOf(request), request.body)),
    }),
  );

  app.delete(
    '/v1/me/branding',
    {
      config: {
        access: 'developer',
        capability: 'configure',
        role: 'full',
        rate: rates.branding,
        failures: [],
      },
      schema: {
        operationId: 'developers.removeBranding',
        summary: 'Show the account by its name alone',
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removeBranding(deps, callerOf(request));
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/logos/:developerId/:hash',
    {
      config: { access: 'none', rate: 'default', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'developers.logo',
        summary: 'The logo that the pages for people show with an account',
        params: LogoPath,
        response: { 200: Logo, 304: Type.Null() },
      },
    },
    async (request, reply) => {
      const { developerId, hash } = request.params;
      return sendFinished(request, reply, await getLogo(deps, { developerId }, hash), {
        'content-type': 'image/png',
        'cache-control': 'public, max-age=31536000, immutable',
      });
    },
  );

  app.post(
    '/v1/me/stop',
    {
      config: { access: 'developer', capability: 'operate', role: 'full', rate: 'default', failures: [] },
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
      config: {
        access: 'developer',
        capability: 'configure',
        stepUp: true,
        role: 'full',
        rate: 'default',
        failures: [],
      },
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
      config: {
        access: 'developer',
        capability: 'own',
        role: 'full',
        rate: rates.keys,
        failures: ['CONFLICT'],
      },
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
