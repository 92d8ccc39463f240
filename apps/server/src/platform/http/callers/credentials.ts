import type { IncomingMessage } from 'node:http';
import { type Cookies, parseCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type {
  BrowserRequest,
  Caller,
  GrantHolder,
  OperatorCaller,
  PrincipalSession,
  ShownToken,
  Tenant,
} from '../../caller.ts';
import { AppError } from '../../errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set when access is `developer`, `consent`, `connect`, `approver`, `scim` or `ssf`; handlers read it through `callerOf`. */
    caller: Caller | null;
    /** Set when access is `session`; handlers read it through `sessionOf`. */
    session: PrincipalSession | null;
    /** Set when access is `grant`; handlers read it through `holderOf`. */
    holder: GrantHolder | null;
    /** Set when access is `operator`; handlers read it through `operatorOf`. */
    operator: OperatorCaller | null;
    /** Set when a resource has shown its credential. */
    resourceServer: Pick<ResourceIdentity, 'resource' | 'connectors'> | null;
    /** The receiver of signals whose token was shown. */
    ssfReceiver: string | null;
  }
}

/** A caller in any request. */
export type Identity = Omit<Caller, 'requestId'>;

/** The caller that an API key stands for. */
export interface KeyCaller {
  readonly caller: Identity;
  /** The time at which the caller may change, or its use has to be recorded. */
  readonly readAgainAt: Date;
}

/** Resolves the hash of an API key, or returns undefined when it is not a valid one. */
export type FindKeyCaller = (hash: Buffer) => Promise<KeyCaller | undefined>;

/** Finds the caller that a browser's request proves. @throws the refusal when it proves none. */
export type AuthenticateBrowser = (request: BrowserRequest) => Promise<Caller>;

/** Reads a session token, without the database. Returns undefined for any other text. */
export type ReadSession = (token: string) => Omit<PrincipalSession, 'requestId'> | undefined;

/** Reads a grant token and its state in the database. A refusal is for the log alone; a nonce is for the next proof. */
export type ReadHolder = (
  shown: ShownToken,
) => Promise<Omit<GrantHolder, 'requestId'> | { readonly refusal: string; readonly nonce?: string }>;

/** Resolves the hash of a SCIM token, or returns undefined when it is not a valid one. */
export type FindProvisioner = (hash: Buffer) => Promise<Identity | undefined>;

/** A resource that shows its credential, as a caller. */
export interface ResourceIdentity extends Identity {
  readonly resource: string;
  /** The connectors that it serves; none for any. */
  readonly connectors: readonly string[];
}

/** Resolves the hash of a resource's credential, or returns undefined when it is not a valid one. */
export type FindResource = (hash: Buffer) => Promise<ResourceIdentity | undefined>;

/** A receiver of signals that has shown an access token. */
export interface SsfIdentity extends Identity {
  readonly receiverId: string;
  readonly scopes: readonly string[];
}

/** Resolves the hash of a receiver's access token, or returns undefined when it is not a valid one. */
export type FindSsfCaller = (hash: Buffer) => Promise<SsfIdentity | undefined>;

/** Says whether a text is the operator's key. @throws NOT_CONFIGURED when there is no such key */
export type CheckOperator = (key: string | undefined) => boolean;

/** The reader of each credential that a route may ask for. The features that issue credentials bring them. */
export interface Credentials {
  readonly developer: FindKeyCaller;
  readonly consent: AuthenticateBrowser;
  readonly connect: AuthenticateBrowser;
  readonly approver: AuthenticateBrowser;
  readonly session: ReadSession;
  readonly grant: ReadHolder;
  readonly scim: FindProvisioner;
  readonly ssf: FindSsfCaller;
  readonly resource: FindResource;
  readonly operator: CheckOperator;
}

/** @throws a plain Error, which is a bug and not an answer, on a route whose access is `none`. */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Error(`${request.pattern} has no caller.`);
  return request.caller;
}

/** The receiver, on a route whose access is `ssf`. @throws as `callerOf` */
export function ssfReceiverOf(request: FastifyRequest): string {
  if (request.ssfReceiver === null) throw new Error(`${request.pattern} has no receiver.`);
  return request.ssfReceiver;
}

/** As `callerOf`, on a route whose access is `session`. */
export function sessionOf(request: FastifyRequest): PrincipalSession {
  if (!request.session) throw new Error(`${request.pattern} has no session.`);
  return request.session;
}

/** As `callerOf`, on a route whose access is `grant`. */
export function holderOf(request: FastifyRequest): GrantHolder {
  if (!request.holder) throw new Error(`${request.pattern} has no holder of a grant.`);
  return request.holder;
}

/** As `callerOf`, on a route whose access is `operator`. */
export function operatorOf(request: FastifyRequest): OperatorCaller {
  if (!request.operator) throw new Error(`${request.pattern} has no operator.`);
  return request.operator;
}

/** The tenant of a request by an API key, a browser or a grant token. @throws as `callerOf` */
export function tenantOf(request: FastifyRequest): Tenant {
  return (request.holder ?? callerOf(request)).tenant;
}

/** The credential of the only `Authorization: Bearer` line; undefined when there is no such line, or two. */
export function bearerOf({ raw, headers }: FastifyRequest): string | undefined {
  // Node keeps the first of two lines; a proxy before the service may have read the second.
  if (timesSent(raw, 'authorization') !== 1) return undefined;
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
}

/** RFC 6265, section 5.4. Only routes for browsers read cookies. */
export const cookiesIn = ({ cookie = '' }: { readonly cookie?: string | undefined }): Cookies =>
  parseCookie(cookie);

/** The number of lines with this name in a request; Node may have joined them. @param name in lower case */
export function timesSent({ rawHeaders }: IncomingMessage, name: string): number {
  let times = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === name) times += 1;
  }
  return times;
}

/**
 * RFC 6750 §3: tells a client which credential to send, where the client looks for it, and whether the sent
 * credential is at fault.
 */
export function unauthorized(
  reply: FastifyReply,
  credential: string | undefined,
  message = 'Send `Authorization: Bearer <API key>` with a valid key.',
): AppError {
  reply.header('www-authenticate', credential ? 'Bearer error="invalid_token"' : 'Bearer');
  return new AppError('UNAUTHORIZED', message);
}
