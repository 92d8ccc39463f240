import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { callerOf, cookiesIn } from '../../../platform/http/callers/credentials.ts';
import { generalRates } from '../../../platform/http/limits/rate-rules.ts';
import { rates } from './approvers.routes.ts';
import {
  Approver,
  ApproverAbsence,
  ApproverColleagues,
  ApproverPasskey,
  ApproverPasskeyList,
  ApproverPath,
  ApproverSession,
  ApproverSignInOptions,
  ApproverSignInRequest,
  ConfirmApproverRequest,
  EnrolmentOptions,
  EnrolmentOptionsRequest,
  EnrolmentRequest,
  NewApproverPasskey,
} from './approvers.schema.ts';
import { confirmColleague, confirmSelf, listColleagues } from './confirm.ts';
import type { ApproverDeps } from './deps.ts';
import { beginEnrolment, finishEnrolment } from './enrol.ts';
import { endAbsence, setAbsence } from './manage.ts';
import {
  ApproverNotifications,
  BrowserSubscription,
  listNotifications,
  NewBrowserSubscription,
  turnOff,
  turnOn,
} from './notifications.ts';
import { addPasskey, beginPasskey, listOwnPasskeys, removePasskey } from './passkeys.ts';
import {
  approverIn,
  deviceIn,
  endedCookie,
  endSession,
  sessionCookieIn,
  showSelf,
  showSession,
  signOnIn,
} from './session.ts';
import { beginSignIn, finishSignIn } from './sign-in.ts';

const stranger = { access: 'none', fromOwnPages: true, onOwnHost: true, rate: rates.consoleSignIn } as const;
const signedIn = { access: 'approver', fromOwnPages: true, rate: generalRates.console } as const;

export const approverPageRoutes: FastifyPluginAsyncTypebox<ApproverDeps> = async (app, deps) => {
  const browserOf = ({ id: requestId, headers }: FastifyRequest) => ({
    requestId,
    device: deviceIn(deps, cookiesIn(headers)),
    signOn: signOnIn(deps, cookiesIn(headers)),
    former: sessionCookieIn(deps, cookiesIn(headers)),
    languages: headers['accept-language'],
  });

  app.post(
    '/v1/approver/enrol/options',
    {
      config: { ...stranger, failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'approver.enrolOptions',
        summary: 'Begin to enrol with the link of an invitation',
        body: EnrolmentOptionsRequest,
        response: { 200: EnrolmentOptions },
      },
    },
    (request) => beginEnrolment(deps, request.body.invite, browserOf(request).signOn),
  );

  app.post(
    '/v1/approver/enrol/verify',
    {
      config: {
        ...stranger,
        failures: [
          'NOT_FOUND',
          'CHALLENGE_INVALID',
          'WEBAUTHN_VERIFICATION_FAILED',
          'CONFLICT',
          'UNAUTHORIZED',
          'SSO_REQUIRED',
        ],
      },
      schema: {
        operationId: 'approver.enrol',
        summary: 'Enrol with the passkey that the authenticator has made',
        body: EnrolmentRequest,
        response: { 201: ApproverSession },
      },
    },
    async (request, reply) => {
      const { opened, cookies } = await finishEnrolment(deps, request.body, browserOf(request));
      return reply
        .header('set-cookie', [...cookies])
        .code(201)
        .send(opened);
    },
  );

  app.post(
    '/v1/approver/session/options',
    {
      config: { ...stranger, failures: ['CONFLICT'] },
      schema: {
        operationId: 'approver.signInOptions',
        summary: 'Begin to sign in with the passkey of an approver',
        body: NoFields,
        response: { 200: ApproverSignInOptions },
      },
    },
    () => beginSignIn(deps),
  );

  app.post(
    '/v1/approver/session/verify',
    {
      config: {
        ...stranger,
        failures: [
          'CONFLICT',
          'CHALLENGE_INVALID',
          'WEBAUTHN_VERIFICATION_FAILED',
          'WEBAUTHN_CLONE_SUSPECTED',
          'UNAUTHORIZED',
          'SSO_REQUIRED',
        ],
      },
      schema: {
        operationId: 'approver.signIn',
        summary: 'Sign in with the passkey of an approver',
        body: ApproverSignInRequest,
        response: { 200: ApproverSession },
      },
    },
    async (request, reply) => {
      const { opened, cookies } = await finishSignIn(deps, request.body, browserOf(request));
      return reply.header('set-cookie', [...cookies]).send(opened);
    },
  );

  app.get(
    '/v1/approver/session',
    {
      config: { ...signedIn, failures: [] },
      schema: {
        operationId: 'approver.session',
        summary: 'Show the approver who is signed in',
        response: { 200: ApproverSession },
      },
    },
    (request) => showSession(deps, callerOf(request), sessionCookieIn(deps, cookiesIn(request.headers))),
  );

  app.delete(
    '/v1/approver/session',
    {
      config: { ...signedIn, failures: [] },
      schema: { operationId: 'approver.signOut', summary: 'Sign out', response: { 204: Type.Null() } },
    },
    async (request, reply) => {
      await endSession(deps, callerOf(request));
      return reply.header('set-cookie', endedCookie(deps)).code(204).send(null);
    },
  );

  app.get(
    '/v1/approver/me',
    {
      config: { ...signedIn, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'approver.me',
        summary: 'Show one’s own record',
        response: { 200: Approver },
      },
    },
    (request) => showSelf(deps, callerOf(request)),
  );

  app.put(
    '/v1/approver/absence',
    {
      config: { ...signedIn, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'approver.setAbsence',
        summary: 'Record an absence of one’s own, with or without a deputy',
        body: ApproverAbsence,
        response: { 200: Approver },
      },
    },
    (request) => {
      const caller = callerOf(request);
      return setAbsence(deps, caller, approverIn(caller).approverId, request.body);
    },
  );

  app.delete(
    '/v1/approver/absence',
    {
      config: { ...signedIn, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'approver.endAbsence',
        summary: 'End one’s own absence',
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      await endAbsence(deps, caller, approverIn(caller).approverId);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/approver/confirm',
    {
      config: { ...signedIn, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'approver.confirmSelf',
        summary: 'Confirm, as a principal, that it was you who enrolled, by the link in your mail',
        body: ConfirmApproverRequest,
        response: { 200: Approver },
      },
    },
    (request) => confirmSelf(deps, callerOf(request), request.body.confirmation),
  );

  app.get(
    '/v1/approver/colleagues',
    {
      config: { ...signedIn, failures: [] },
      schema: {
        operationId: 'approver.colleagues',
        summary:
          'List the people who wait for somebody to vouch for them, who may stand in, or whom the operator lets enrol once more',
        response: { 200: ApproverColleagues },
      },
    },
    (request) => listColleagues(deps, callerOf(request)),
  );

  app.post(
    '/v1/approver/colleagues/:id/confirm',
    {
      config: { ...signedIn, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'approver.confirm',
        summary: 'Vouch for a person who has enrolled',
        params: ApproverPath,
        body: NoFields,
        response: { 200: Approver },
      },
    },
    (request) => confirmColleague(deps, callerOf(request), request.params.id),
  );
};

export const approverPasskeyRoutes: FastifyPluginAsyncTypebox<ApproverDeps> = async (app, deps) => {
  app.get(
    '/v1/approver/passkeys',
    {
      config: { ...signedIn, failures: [] },
      schema: {
        operationId: 'approver.passkeys',
        summary: 'List one’s own passkeys, newest first',
        response: { 200: ApproverPasskeyList },
      },
    },
    (request) => listOwnPasskeys(deps, callerOf(request)),
  );

  app.post(
    '/v1/approver/passkeys/options',
    {
      config: { ...signedIn, failures: ['CONFLICT'] },
      schema: {
        operationId: 'approver.passkeyOptions',
        summary: 'Begin to make a further passkey, within five minutes of the last sign-in',
        body: NoFields,
        response: { 200: ApproverSignInOptions },
      },
    },
    (request) => beginPasskey(deps, callerOf(request)),
  );

  app.post(
    '/v1/approver/passkeys/verify',
    {
      config: {
        ...signedIn,
        failures: ['CHALLENGE_INVALID', 'WEBAUTHN_VERIFICATION_FAILED', 'CONFLICT'],
      },
      schema: {
        operationId: 'approver.addPasskey',
        summary: 'Add the passkey that the authenticator has made',
        body: NewApproverPasskey,
        response: { 201: ApproverPasskey },
      },
    },
    async (request, reply) => {
      const added = { ...request.body, languages: request.headers['accept-language'] };
      return reply.code(201).send(await addPasskey(deps, callerOf(request), added));
    },
  );

  app.delete(
    '/v1/approver/passkeys/:id',
    {
      config: { ...signedIn, failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'approver.removePasskey',
        summary: 'Remove one of one’s own passkeys, and end the sessions of other browsers',
        params: ApproverPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removePasskey(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};

export const approverNotificationRoutes: FastifyPluginAsyncTypebox<ApproverDeps> = async (app, deps) => {
  app.get(
    '/v1/approver/notifications',
    {
      config: { ...signedIn, failures: [] },
      schema: {
        operationId: 'approver.notifications',
        summary: 'List the browsers in which one has turned on notifications, oldest first',
        response: { 200: ApproverNotifications },
      },
    },
    (request) => listNotifications(deps, callerOf(request)),
  );

  app.put(
    '/v1/approver/notifications',
    {
      config: { ...signedIn, failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'approver.turnOnNotifications',
        summary: 'Turn on notifications in this browser (Web Push)',
        description:
          'A message carries the headline of a call and a link to it, encrypted for this browser, and decides nothing. An approver has at most 5 browsers. A browser that is known already gets its new keys.',
        body: NewBrowserSubscription,
        response: { 200: BrowserSubscription },
      },
    },
    (request) => turnOn(deps, callerOf(request), request.body),
  );

  app.delete(
    '/v1/approver/notifications/:id',
    {
      config: { ...signedIn, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'approver.turnOffNotifications',
        summary: 'Turn off notifications in one of one’s own browsers',
        params: ApproverPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await turnOff(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};
