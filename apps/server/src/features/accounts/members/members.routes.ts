import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { generalRates } from '../../../platform/http/limits/rate-rules.ts';
import { approverRates as rates } from '../../calls/approvers/index.ts';
import { beginJoin, finishJoin, inviteMember, listInvitations, revokeInvitation } from './invite.ts';
import { changeMember, listMembers, listSessions, removeMember, revokeSession } from './manage.ts';
import {
  InvitationList,
  JoinedConsole,
  JoinOptions,
  JoinOptionsRequest,
  JoinRequest,
  MadeInvitation,
  Member,
  MemberChange,
  MemberList,
  MemberPath,
  NewInvitation,
  SessionPage,
  SessionQuery,
} from './members.schema.ts';
import { browserOf } from './session.routes.ts';
import type { MemberDeps } from './session.ts';

const stranger = { access: 'none', fromOwnPages: true, onOwnHost: true, rate: rates.consoleSignIn } as const;
const signedIn = { access: 'console', rate: generalRates.console } as const;
/** An API key adds nobody: who finds one must not be able to let themselves in. */
const writing = { access: 'console', capability: 'people', rate: rates.memberWrite } as const;

/** Suspending a member cuts authority. */
const givesMore = (body: unknown) => Object(body).role !== undefined || Object(body).status === 'active';

export const memberRoutes: FastifyPluginAsyncTypebox<MemberDeps> = async (app, deps) => {
  app.get(
    '/v1/members',
    {
      config: { ...signedIn, capability: 'read', failures: [] },
      schema: {
        operationId: 'members.list',
        summary: 'List the members of the account, oldest first',
        response: { 200: MemberList },
      },
    },
    (request) => listMembers(deps, callerOf(request)),
  );

  app.patch(
    '/v1/members/:id',
    {
      config: { ...writing, stepUp: givesMore, failures: ['NOT_FOUND', 'CONFLICT', 'FORBIDDEN'] },
      schema: {
        operationId: 'members.change',
        summary: 'Give a member another role, or suspend them',
        description: 'Their sessions end. Suspending asks for no step-up.',
        params: MemberPath,
        body: MemberChange,
        response: { 200: Member },
      },
    },
    (request) => changeMember(deps, callerOf(request), request.params.id, request.body),
  );

  app.delete(
    '/v1/members/:id',
    {
      config: { ...writing, failures: ['NOT_FOUND', 'CONFLICT', 'FORBIDDEN'] },
      schema: {
        operationId: 'members.remove',
        summary: 'Remove a member at once, with their passkeys and sessions',
        params: MemberPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removeMember(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/members/invitations',
    {
      config: { ...writing, stepUp: true, failures: ['CONFLICT', 'FORBIDDEN'] },
      schema: {
        operationId: 'members.invite',
        summary: 'Make a link by which a person becomes a member',
        description:
          'It works once, for seven days. It is mailed where the service sends mail and the address of the account is verified, and the answer has it otherwise. One to the same address ends.',
        body: NewInvitation,
        response: { 201: MadeInvitation },
      },
    },
    async (request, reply) => reply.code(201).send(await inviteMember(deps, callerOf(request), request.body)),
  );

  app.get(
    '/v1/members/invitations',
    {
      config: { ...signedIn, capability: 'people', failures: [] },
      schema: {
        operationId: 'members.invitations',
        summary: 'List open invitations, newest first',
        response: { 200: InvitationList },
      },
    },
    (request) => listInvitations(deps, callerOf(request)),
  );

  app.delete(
    '/v1/members/invitations/:id',
    {
      config: { ...writing, failures: ['NOT_FOUND', 'FORBIDDEN'] },
      schema: {
        operationId: 'members.revokeInvitation',
        summary: 'Take an invitation back',
        params: MemberPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await revokeInvitation(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/console/join/options',
    {
      config: { ...stranger, failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'console.joinOptions',
        summary: 'See an invitation, and begin to accept it',
        body: JoinOptionsRequest,
        response: { 200: JoinOptions },
      },
    },
    (request) => beginJoin(deps, request.body.invite),
  );

  app.post(
    '/v1/console/join/verify',
    {
      config: {
        ...stranger,
        failures: ['NOT_FOUND', 'CONFLICT', 'CHALLENGE_INVALID', 'WEBAUTHN_VERIFICATION_FAILED'],
      },
      schema: {
        operationId: 'console.join',
        summary: 'Become a member with the passkey that the authenticator has made',
        body: JoinRequest,
        response: { 201: JoinedConsole },
      },
    },
    async (request, reply) => {
      const browser = { ...browserOf(deps, request), requestId: request.id };
      const { opened, cookie, recoveryCodes } = await finishJoin(deps, request.body, browser);
      return reply
        .header('set-cookie', cookie)
        .code(201)
        .send({ ...opened, recoveryCodes });
    },
  );

  app.get(
    '/v1/console/sessions',
    {
      config: { ...signedIn, failures: [] },
      schema: {
        operationId: 'console.sessions',
        summary: 'List open sessions of the console, newest first',
        description: 'Your own. Who may govern the account sees those of everybody.',
        querystring: SessionQuery,
        response: { 200: SessionPage },
      },
    },
    (request) => listSessions(deps, callerOf(request), request.query),
  );

  app.delete(
    '/v1/console/sessions/:id',
    {
      config: { ...signedIn, failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'console.revokeSession',
        summary: 'End a session of the console',
        params: MemberPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await revokeSession(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};
