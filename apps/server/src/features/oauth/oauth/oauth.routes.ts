import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { fieldsOf } from '../../../platform/http/bodies/bodies.ts';
import { cookiesIn, tenantIn } from '../../../platform/http/callers/credentials.ts';
import { proofOf } from '../../../platform/http/callers/grant.ts';
import { type AuthorizeDeps, authorize } from './authorize.ts';
import type { ClientRequest } from './client.ts';
import type { DeviceDeps } from './device.ts';
import { introspect, type QuestionDeps, revoke } from './introspect.ts';
import {
  BrowserRedirect,
  IntrospectionResponse,
  OAuthAuthorizationRequest,
  PushedAuthorizationResponse,
  ResumeAuthorizationRequest,
  TokenReference,
  TokenRequest,
  TokenResponse,
} from './oauth.schema.ts';
import { pushRequest } from './par.ts';
import { currentNonce, issueByForm, MAKES_GRANT, type ProofDeps, type TokenEndpointDeps } from './token.ts';

interface OAuthDeps extends AuthorizeDeps, DeviceDeps, TokenEndpointDeps, QuestionDeps, ProofDeps {}

const REPEATS = ['resource'];
export const form = {
  access: 'none',
  rate: 'default',
  errors: 'oauth',
  takesForm: 'only',
  repeats: REPEATS,
  failures: ['UNAUTHORIZED'],
} as const;

/** The endpoints that clients call. Their bodies are forms, and their errors those of RFC 6749. */
export const oauthRoutes: FastifyPluginAsyncTypebox<OAuthDeps> = async (app, deps) => {
  app.addHook('onRequest', async (_request, reply) => {
    if (deps.demandsNonce) reply.header('dpop-nonce', currentNonce(deps));
  });

  app.get(
    '/oauth/authorize',
    {
      config: { access: 'none', actsOnGet: true, rate: 'default', errors: 'oauth page', failures: [] },
      schema: {
        operationId: 'oauth.authorize',
        summary: 'Ask a person for consent (RFC 6749 §4.1.1)',
        description:
          'A browser follows the link of a client. The answer leads it to the consent page or, with a code or an error, back to the client. The parameters are those of the form of `POST /oauth/authorize`.',
        response: { 303: Type.Null() },
      },
    },
    async (request, reply) => {
      const { searchParams } = new URL(request.url, 'http://localhost');
      const sent = fieldsOf(searchParams, REPEATS);
      return reply.code(303).redirect(await authorize(deps, sent, browserOf(request)), 303);
    },
  );

  app.post(
    '/oauth/authorize',
    {
      config: { ...form, errors: 'oauth page', failures: [] },
      schema: {
        operationId: 'oauth.authorizeByForm',
        summary: 'Ask a person for consent, with a form (RFC 6749 §4.1.1)',
        body: OAuthAuthorizationRequest,
        response: { 303: Type.Null() },
      },
    },
    async (request, reply) =>
      reply.code(303).redirect(await authorize(deps, request.body, browserOf(request)), 303),
  );

  app.post(
    '/v1/oauth/arrivals',
    {
      config: { access: 'none', fromOwnPages: true, rate: 'default', failures: ['BAD_REQUEST'] },
      schema: {
        operationId: 'oauth.arrive',
        summary: "Go on with a request whose person the developer's application has signed in",
        description: 'The consent page calls it with the hint of the application, which names the person.',
        body: ResumeAuthorizationRequest,
        response: { 200: BrowserRedirect },
      },
    },
    async (request) => {
      const { clientId, requestUri, hint } = request.body;
      const sent = { client_id: clientId, request_uri: requestUri };
      return { redirectTo: await authorize(deps, sent, browserOf(request), { hint }) };
    },
  );

  app.post(
    '/oauth/par',
    {
      config: { ...form, fromAnyOrigin: true },
      schema: {
        operationId: 'oauth.push',
        summary: 'Push an authorization request (RFC 9126)',
        body: OAuthAuthorizationRequest,
        response: { 201: PushedAuthorizationResponse },
      },
    },
    async (request, reply) =>
      reply
        .code(201)
        .send(
          await pushRequest(deps, request.body, clientRequestOf(request, request.body), proofOf(request)),
        ),
  );

  app.post(
    '/oauth/token',
    {
      config: {
        ...form,
        fromAnyOrigin: true,
        metered: 'tokenExchanges',
        meteredIf: isExchange,
      },
      schema: {
        operationId: 'oauth.token',
        summary: 'Get tokens (RFC 6749 §3.2)',
        body: TokenRequest,
        response: { 200: TokenResponse },
      },
    },
    async (request) => {
      const sent = clientRequestOf(request, request.body);
      const { answer, caller } = await issueByForm(deps, request.body, sent, proofOf(request));
      request.caller = { kind: 'client', caller };
      return answer;
    },
  );

  app.post(
    '/oauth/introspect',
    {
      config: { ...form, metered: 'verifications', meteredIf: isOfDeveloper },
      schema: {
        operationId: 'oauth.introspect',
        summary: 'Ask about a token (RFC 7662)',
        description:
          'A resource shows its credential as a bearer, a developer an API key, and a client itself.',
        body: TokenReference,
        response: { 200: IntrospectionResponse },
      },
    },
    async (request) => {
      const sent = clientRequestOf(request, request.body);
      const { answer, caller } = await introspect(deps, request.body, sent);
      if (caller) request.caller = { kind: 'client', caller };
      return answer;
    },
  );

  app.post(
    '/oauth/revoke',
    {
      config: { ...form, fromAnyOrigin: true },
      schema: {
        operationId: 'oauth.revoke',
        summary: 'End a token (RFC 7009)',
        description: 'A client ends its own tokens, and a receiver of signals its own access tokens.',
        body: TokenReference,
        response: { 200: Type.String() },
      },
    },
    async (request, reply) => {
      await revoke(deps, request.body, clientRequestOf(request, request.body));
      return reply.type('text/plain; charset=utf-8').send('');
    },
  );
};

export const browserOf = ({ id, ip, headers }: FastifyRequest) => ({
  requestId: id,
  address: ip,
  cookies: cookiesIn(headers),
});

export function clientRequestOf(
  { id: requestId, ip: address, headers: { authorization } }: FastifyRequest,
  sent: ClientRequest['sent'] & ClientRequest['tenantHints'],
): ClientRequest {
  return { authorization, sent, tenantHints: sent, requestId, address };
}

/** Only a new grant is an exchange: a refresh is not counted, as at `POST /v1/token/refresh`. */
const isExchange = ({ statusCode, request: { body } }: FastifyReply) =>
  statusCode === 200 && MAKES_GRANT.has(Object(body).grant_type);

/** A question about a token that names no developer is not counted. */
const isOfDeveloper = ({ statusCode, request }: FastifyReply) =>
  statusCode === 200 && tenantIn(request) !== undefined;
