import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { isDatabaseAway } from '../../db/db.ts';
import { AppError, notFound, unavailable } from '../../errors.ts';
import { isOAuthPath, oauthStatus, toOAuthError } from '../../oauth-errors.ts';
import { tenantIn } from '../callers/credentials.ts';
import { variesBy } from './headers.ts';
import { asksForPage, prefersHtml, refusalPage, sendPage, strayPage } from './plain-page.ts';

/** Turns any thrown error into the one error body. */
export function addErrorHandler(app: FastifyInstance): void {
  app.setErrorHandler((thrown: FastifyError | AppError, request, reply) => {
    const error = thrown instanceof AppError ? thrown : translate(thrown, request);
    request.refusal = error;
    if (error.status >= 500) request.log.error({ err: thrown }, 'request failed');
    // RFC 9110 §15.5.2. A refusal by the hook that reads keys has the header already.
    if (error.status === 401 && !reply.hasHeader('www-authenticate')) {
      reply.header('www-authenticate', challengeFor(request));
    }
    if (error.headers) reply.headers(error.headers);
    const { retryAfter, allow } = Object(error.details);
    if (error.status === 429 && retryAfter !== undefined) reply.header('retry-after', retryAfter);
    if (error.status === 405) reply.header('allow', allow.join(', ')); // RFC 9110 §15.5.6
    const { errors } = request.declared;
    const isScim = errors === 'scim' || isScimPath(request.url); // nothing is declared for an unknown path
    const isStray = request.is404 && isOAuthPath(request.url);
    const isOAuth = errors === 'oauth' || errors === 'oauth page' || isStray;
    reply.code(isOAuth && isOAuthPath(request.url) && !isStray ? oauthStatus(error) : error.status);
    if ((errors === 'page' || errors === 'oauth page') && asksForPage(request)) {
      return sendPage(reply, refusalPage(error, request.id));
    }
    if (errors === 'set') {
      reply.code(setStatus(error)).header('content-language', 'en');
      return reply.send(setErrorBody(error));
    }
    if (isScim) return reply.type(SCIM_TYPE).send(scimErrorBody(error));
    if (isStray || !isOAuth) {
      if (prefersHtml(request)) return sendPage(reply, strayPage(error, request.id));
      reply.header('vary', variesBy(reply, 'Accept'));
    }
    if (isStray) return reply.send({ ...toOAuthError(error), error: 'invalid_request' });
    return reply.send(isOAuth ? toOAuthError(error) : errorBody(error, request.id));
  });
}

/** RFC 6749 §5.2: a client that tried HTTP Basic is asked for it again. */
function challengeFor(request: FastifyRequest): string {
  const { url, headers } = request;
  if (isOAuthPath(url) && /^Basic /i.test(headers.authorization ?? '')) return 'Basic realm="oauth"';
  return tenantIn(request) ? 'Bearer error="invalid_token"' : 'Bearer';
}

export function errorBody({ code, message, details }: AppError, requestId: string) {
  return { code, message, requestId, ...(details && { details }) };
}

/** Fastify's own refusals are the client's fault; the text of any other error stays inside. */
function translate(error: FastifyError, { routeOptions }: FastifyRequest): AppError {
  const { validation, validationContext, statusCode = 500 } = error;
  if (validationContext === 'params') return notFound();
  if (validation) {
    return new AppError('BAD_REQUEST', 'The request is not valid.', { fields: validation.flatMap(fieldsOf) });
  }
  if (statusCode === 413) {
    const limit = routeOptions.bodyLimit;
    return new AppError('PAYLOAD_TOO_LARGE', `The body is larger than ${limit} bytes.`, { limit });
  }
  if (statusCode === 415) return new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body has to be JSON.');
  if (statusCode < 500) return new AppError('BAD_REQUEST', 'The request cannot be read.');
  if (isDatabaseAway(error)) return unavailable('db');
  return new AppError('INTERNAL_ERROR', 'Something went wrong. Quote the request id when you report it.');
}

/** From the keywords of JSON Schema to the few words that clients read. */
const PROBLEMS: Readonly<Record<string, string>> = {
  required: 'required',
  type: 'type',
  maxLength: 'too_long',
  maxItems: 'too_long',
  maxProperties: 'too_long',
  minLength: 'too_short',
  minItems: 'too_short',
  minProperties: 'too_short',
  maximum: 'too_large',
  minimum: 'too_small',
  boolean: 'unknown', // the schema `false`, which an unlisted field meets
  enum: 'not_allowed',
  const: 'not_allowed',
};

/** Keywords whose problem other keywords repeat, field by field. */
const SAID_AGAIN = new Set(['additionalProperties', 'propertyNames', 'anyOf']);

/** RFC 6901, section 4. */
const unescaped = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~');

type Problem = NonNullable<FastifyError['validation']>[number];

function fieldsOf({ keyword, instancePath, params }: Problem) {
  if (SAID_AGAIN.has(keyword)) return [];
  const path = instancePath.split('/').slice(1).map(unescaped);
  const problem = PROBLEMS[keyword] ?? 'format';
  const missing = Array.isArray(params.requiredProperties) ? params.requiredProperties : [];
  const paths = keyword === 'required' ? missing.map((name) => [...path, name]) : [path];
  return paths.map((each) => ({ path: each.join('.'), problem }));
}

export const SCIM_TYPE = 'application/scim+json; charset=utf-8';

const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** Whether a request is for the part of the service that speaks SCIM, even if it has no such path. */
export const isScimPath = (url: string): boolean => /^\/scim\/v2(?:[/?#]|$)/.test(url);

/** RFC 7644 §3.12: the body that a SCIM client reads. */
export function scimErrorBody({ status, message, details }: AppError) {
  const scimType: unknown = details?.scimType ?? (status === 400 ? 'invalidSyntax' : undefined);
  const isNamed = (status === 400 || status === 409) && scimType !== undefined;
  return { schemas: [ERROR], status: String(status), ...(isNamed && { scimType }), detail: message };
}

/** RFC 8935, section 2.4: the body that a transmitter of security events reads. */
function setErrorBody({ message, details }: AppError) {
  return { err: String(details?.err ?? 'invalid_request'), description: message };
}

/** A transmitter sends again after 503, and gives up after 500. All that is wrong with a token is 400. */
function setStatus({ status }: AppError): number {
  if (status === 500) return 503;
  return status === 404 || status === 415 ? 400 : status;
}
