import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BrowserRequest, Caller, PrincipalSession } from '../../caller.ts';
import { AppError } from '../../errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set unless access is `none` or `session`; handlers read it through `callerOf`. */
    caller: Caller | null;
    /** Set where access is `session`; handlers read it through `sessionOf`. */
    session: PrincipalSession | null;
  }
}

/** A caller, in whichever request. */
export type Identity = Omit<Caller, 'requestId'>;

/** The caller that an API key stands for. */
export interface KeyCaller {
  readonly caller: Identity;
  /** When this is no longer so, or there is something to note. */
  readonly readAgainAt: Date;
}

/** Resolves the hash of an API key, or returns undefined when it is not a valid one. */
export type FindKeyCaller = (hash: Buffer) => Promise<KeyCaller | undefined>;

/** Finds the caller that a browser's request proves. @throws the refusal when it proves none. */
export type AuthenticateBrowser = (request: BrowserRequest) => Promise<Caller>;

/** Reads a session token, without the database. Returns undefined for any other text. */
export type ReadSession = (token: string) => Omit<PrincipalSession, 'requestId'> | undefined;

/** How each credential is read that a route may ask for. The features that give them out bring them. */
export interface Credentials {
  readonly developer: FindKeyCaller;
  readonly consent: AuthenticateBrowser;
  readonly session: ReadSession;
}

/** @throws a plain Error, which is a bug and not an answer, on a route whose access is `none`. */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Error(`${request.routeOptions.url} has no caller.`);
  return request.caller;
}

/** As `callerOf`, on a route whose access is `session`. */
export function sessionOf(request: FastifyRequest): PrincipalSession {
  if (!request.session) throw new Error(`${request.routeOptions.url} has no session.`);
  return request.session;
}

/** The one `Authorization: Bearer <credential>`; nothing when there is none, or two. */
export function bearerOf({ raw, headers }: FastifyRequest): string | undefined {
  // Node keeps the first of two; a proxy before us may have looked at the second.
  if (timesSent(raw, 'authorization') !== 1) return undefined;
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
}

/** How many lines of a request have this name, which Node may have made one of. @param name in lower case */
export function timesSent({ rawHeaders }: IncomingMessage, name: string): number {
  let times = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === name) times += 1;
  }
  return times;
}

/** RFC 6750 §3: says where clients look for it which credential to send, and whether the one sent is at fault. */
export function unauthorized(
  reply: FastifyReply,
  credential: string | undefined,
  message = 'Send `Authorization: Bearer <API key>` with a valid key.',
): AppError {
  reply.header('www-authenticate', credential ? 'Bearer error="invalid_token"' : 'Bearer');
  return new AppError('UNAUTHORIZED', message);
}
