import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { asksForPage, prefersPage, sendPage } from '../../../platform/http/answers/plain-page.ts';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import type { RateRule } from '../../../platform/http/limits/rate-rules.ts';
import {
  EmailVerificationLink,
  LinkPath,
  SentEmailVerification,
  VerifiedEmail,
  VerifyEmail,
} from './emails.schema.ts';
import { type EmailDeps, rates, sendLink, showLink, verifyEmail } from './send.ts';

interface EmailRoutesDeps extends EmailDeps {
  /** For opening and using a link. */
  readonly linkRate: RateRule;
}

export const emailRoutes: FastifyPluginAsyncTypebox<EmailRoutesDeps> = async (app, deps) => {
  app.post(
    '/v1/signup/verify',
    {
      config: {
        access: 'developer',
        capability: 'configure',
        role: 'full',
        rate: rates.emailVerify,
        failures: ['NOT_CONFIGURED'],
      },
      schema: {
        operationId: 'emails.sendLink',
        summary: 'Mail a link that verifies an address',
        body: VerifyEmail,
        response: { 201: SentEmailVerification },
      },
    },
    async (request, reply) => {
      const asked = { ...request.body, languages: request.headers['accept-language'] };
      return reply.code(201).send(await sendLink(depsFor(request, deps), callerOf(request), asked));
    },
  );

  app.get(
    '/v1/signup/verify/:token',
    {
      config: {
        access: 'none',
        rate: deps.linkRate,
        failures: ['NOT_FOUND', 'TOKEN_EXPIRED'],
        errors: 'page',
      },
      schema: {
        operationId: 'emails.showLink',
        summary: 'Show a mailed link, as a page with one button unless JSON is asked for',
        params: LinkPath,
        response: { 200: EmailVerificationLink },
      },
    },
    async (request, reply) => {
      const shown = await showLink(deps, request.params.token);
      return prefersPage(request) ? sendPage(reply, asking(shown)) : reply.send(shown);
    },
  );

  app.post(
    '/v1/signup/verify/:token',
    {
      config: {
        access: 'none',
        rate: deps.linkRate,
        failures: ['NOT_FOUND', 'TOKEN_EXPIRED', 'EMAIL_TAKEN'],
        errors: 'page',
      },
      schema: {
        operationId: 'emails.verify',
        summary: 'Verify the address that a mailed link was sent to',
        params: LinkPath,
        body: NoFields,
        response: { 200: VerifiedEmail },
      },
    },
    async (request, reply) => {
      const verified = await verifyEmail(deps, request.params.token, request.id);
      return asksForPage(request) ? sendPage(reply, texts.done) : reply.send(verified);
    },
  );
};

/** The page of a mailed link. @public The check of the messages reads it. */
export const texts = {
  done: { title: 'The address is verified', lead: 'You can close this window.' },
  asking: {
    title: 'Verify your address',
    lead: 'Your account will have the address {email}.',
    button: 'Verify',
  },
  /** What refusals of a link say. */
  unknown: 'This link is unknown, or a newer one has replaced it.',
  expired: 'This link is no longer valid. Ask for another link.',
  taken: 'Another account has verified this address.',
};

const asking = ({ email, status }: EmailVerificationLink) =>
  status === 'verified' ? texts.done : { ...texts.asking, values: { email } };
