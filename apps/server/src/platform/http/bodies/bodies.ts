import { JsonError, parseJson } from '@behest/protocol/json';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { AppError } from '../../errors.ts';

const JSON_TYPE = /^application\/([\w.+-]+\+)?json\s*(;\s*charset="?utf-8"?\s*)?$/i;
const SET_TYPE = /^application\/secevent\+jwt\s*$/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;\s*charset="?utf-8"?\s*)?$/i;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes a form too, as RFC 7662 demands, or nothing else, as RFC 6749 does. */
    takesForm?: boolean | 'only';
    /** The fields of its form that may be there several times (RFC 8707 §2). Their value is an array. */
    repeats?: readonly string[];
    /** The body is a security event token (RFC 8935), which the handler gets as the member `set`. */
    takesSet?: true;
    /** A body of another media type is a bad request, as some standards say. */
    badMediaType?: 'BAD_REQUEST';
    /** Its handler needs the bytes of the body too: those that were signed, or digits that a parsed number lost. */
    keepsBytes?: true;
    /** Its handler reads the body itself, as it comes. The body may have any media type. */
    streamsBody?: true;
  }
  interface FastifyRequest {
    /** The body as it was sent. Null on routes that do not keep it. */
    sentBytes: Buffer | null;
  }
}

/**
 * The largest body of a route that asks for neither an API key nor a token of a machine, in bytes, unless the route names
 * another. Such routes need far less, and a stranger can keep as many bodies in memory as the limits by address admit
 * requests in the time that a request may take.
 */
const MAX_WITHOUT_KEY = 65_536;
const KEYED: ReadonlySet<string> = new Set(['developer', 'scim', 'ssf']);

/** No body, no bytes and `{}` are the same body. The required fields decide whether it suffices. */
export function addBodyParser(app: FastifyInstance, bodyLimit: number): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    if (KEYED.has(route.config?.access ?? 'none')) return;
    route.bodyLimit ??= Math.min(MAX_WITHOUT_KEY, bodyLimit);
  });
  app.removeAllContentTypeParsers();
  // Parsed later: the bytes find a stored answer before their content is judged.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request: FastifyRequest, bytes: Buffer, done) =>
    done(null, bytes),
  );
  app.addHook('onRequest', ({ method, headers, declared }, _reply, done) => {
    if (method === 'DELETE' && !declared.streamsBody) delete headers['content-type']; // or Fastify would judge it
    done();
  });
  app.decorateRequest('sentBytes', null);
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.declared.streamsBody) return done();
    const bytes = bytesOf(request);
    if (request.declared.keepsBytes) request.sentBytes = bytes;
    request.body = parse(request, bytes);
    done();
  });
}

/** Leaves bodies unread in this part of the app, whose routes declare `streamsBody`. */
export function leaveBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
}

const NO_BYTES = Buffer.alloc(0);

/** The body as it was sent, until it is parsed. */
export function bytesOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : NO_BYTES;
}

/** What the body says, whether it is parsed yet or not. @throws AppError */
export const bodyOf = (request: FastifyRequest): unknown =>
  Buffer.isBuffer(request.body) ? parse(request, request.body) : request.body;

/** @throws a plain Error on a route that does not declare `keepsBytes` */
export function sentBytesOf({ sentBytes, pattern }: FastifyRequest): Buffer {
  if (!sentBytes) throw new Error(`${pattern} keeps no bytes.`);
  return sentBytes;
}

function parse({ method, headers, declared }: FastifyRequest, bytes: Buffer): unknown {
  if (bytes.length === 0 || method === 'DELETE') return {};
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers;
  const isPlain = encoding.toLowerCase() === 'identity';
  if (declared.takesSet) return { set: setOf(isPlain && SET_TYPE.test(type), bytes) };
  if (isPlain && FORM_TYPE.test(type) && declared.takesForm) return formOf(bytes, declared.repeats);
  if (declared.takesForm === 'only') {
    const message = 'Send `Content-Type: application/x-www-form-urlencoded`, not compressed.';
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', message);
  }
  if (isPlain && JSON_TYPE.test(type)) return jsonOf(bytes);
  const code = declared.badMediaType ?? 'UNSUPPORTED_MEDIA_TYPE';
  throw new AppError(code, 'Send `Content-Type: application/json`, not compressed.');
}

function setOf(isSet: boolean, bytes: Buffer): string {
  if (isSet) return bytes.toString('latin1'); // a token is ASCII, and any other letter fails its check
  const message = 'Send `Content-Type: application/secevent+jwt`, not compressed.';
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', message);
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof JsonError) {
      throw new AppError('BAD_REQUEST', `The body is not acceptable JSON: ${error.fault}.`);
    }
    throw error;
  }
}

/**
 * A field without a value counts as left out (RFC 6749 §3.1, §3.2), so neither twice nor wrong.
 * @param repeats the fields whose value is an array
 * @throws BAD_REQUEST when another field is there twice, as RFC 6749 §3.2 demands, and for NUL, which the database refuses
 */
export function fieldsOf(
  fields: URLSearchParams,
  repeats: readonly string[] = [],
): Record<string, string | string[]> {
  const sent = [...fields].filter(([, value]) => value !== '');
  if (sent.some((field) => field.join().includes('\0'))) {
    throw new AppError('BAD_REQUEST', 'A field of the form holds NUL.');
  }
  const single = new Map<string, string>();
  const several = new Map<string, string[]>();
  for (const [name, value] of sent) {
    const others = several.get(name);
    if (others) others.push(value);
    else if (repeats.includes(name)) several.set(name, [value]);
    else if (single.has(name)) throw new AppError('BAD_REQUEST', 'A field of the form is there twice.');
    else single.set(name, value);
  }
  return Object.fromEntries<string | string[]>([...single, ...several]);
}

const formOf = (bytes: Buffer, repeats?: readonly string[]) =>
  fieldsOf(new URLSearchParams(bytes.toString('utf8')), repeats);
