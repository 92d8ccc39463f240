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
import type { Charging } from '../limits/bills.ts';
import type { RateLimits } from '../limits/rate-rules.ts';
import type { KnownCallers } from './known-callers.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the handler; handlers read it through the functions below. */
    caller: RequestCaller | null;
  }
}

/** The caller of a request, by the kind of the credential that was shown. */
export type RequestCaller =
  | {
      readonly kind: 'none';
      /**
       * Charges the resource in the path, for a handler that finds its secret in the body.
       * @throws RATE_LIMITED
       */
      readonly chargeResource: () => Promise<void>;
    }
  | (CallerOfKind<'key', Caller> & ChargeMore)
  | (CallerOfKind<'resource', Caller> &
      ChargeMore & { readonly server: Pick<ResourceIdentity, 'resource' | 'connectors'> })
  | (CallerOfKind<'member', Caller> & ChargeMore)
  | CallerOfKind<'page', Caller>
  | CallerOfKind<'approver', Caller>
  | CallerOfKind<'directory', Caller>
  | (CallerOfKind<'receiver', Caller> & { readonly receiverId: string })
  /** An OAuth client, which the handler of its endpoint authenticates. */
  | CallerOfKind<'client', Caller>
  | CallerOfKind<'session', PrincipalSession>
  | CallerOfKind<'grant', GrantHolder>
  | CallerOfKind<'operator', OperatorCaller>;

interface CallerOfKind<Kind, Of> {
  readonly kind: Kind;
  readonly caller: Of;
}

interface ChargeMore {
  /**
   * Charges the caller for more than one request, all or none.
   * @throws RATE_LIMITED
   */
  readonly chargeMore: (times: number) => Promise<void>;
}

/** A request whose caller is being found. */
export interface CallerContext {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly charge: Charging;
  readonly limits: RateLimits;
  readonly credentials: Credentials;
  readonly callers: KnownCallers;
}

/** A way to find the caller of a request, and to charge the request to that caller. */
export interface CallerKind {
  /** It charges the address itself, in one trip with its own count. */
  readonly chargesAddress?: true;
  /** Its routes exist on the host of the service only, and on no domain of a developer. */
  readonly isOnOwnHost?: true;
  readonly authenticate: (context: CallerContext) => Promise<RequestCaller>;
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
  readonly console: AuthenticateBrowser;
  readonly session: ReadSession;
  readonly grant: ReadHolder;
  readonly scim: FindProvisioner;
  readonly ssf: FindSsfCaller;
  readonly resource: FindResource;
  readonly operator: CheckOperator;
}

const named: Readonly<Record<keyof Credentials, true>> = {
  developer: true,
  consent: true,
  connect: true,
  approver: true,
  console: true,
  session: true,
  grant: true,
  scim: true,
  ssf: true,
  resource: true,
  operator: true,
};
export const credentialNames = Object.keys(named) as (keyof Credentials)[]; // `keys` forgets the names

/** @throws a plain Error, which is a bug and not an answer, on a route with another `access` */
export function callerAs<Kind extends RequestCaller['kind']>(
  { caller, pattern }: FastifyRequest,
  ...kinds: readonly Kind[]
): Extract<RequestCaller, { readonly kind: Kind }> {
  const isOne = (found: RequestCaller | null): found is Extract<RequestCaller, { readonly kind: Kind }> =>
    found !== null && kinds.some((kind) => kind === found.kind);
  if (!isOne(caller)) throw new Error(`${pattern} has no caller by ${kinds.join(' or ')}.`);
  return caller;
}

/** A caller who acts for a developer: by an API key, a cookie of a page, or a token of another system. */
export const callerOf = (request: FastifyRequest): Caller =>
  callerAs(request, 'key', 'resource', 'member', 'page', 'approver', 'directory', 'receiver', 'client')
    .caller;

/** The receiver, on a route whose access is `ssf`. */
export const ssfReceiverOf = (request: FastifyRequest): string => callerAs(request, 'receiver').receiverId;

/** The person, on a route whose access is `session`. */
export const sessionOf = (request: FastifyRequest): PrincipalSession => callerAs(request, 'session').caller;

/** The agent, on a route whose access is `grant`. */
export const holderOf = (request: FastifyRequest): GrantHolder => callerAs(request, 'grant').caller;

/** On a route whose access is `operator`. */
export const operatorOf = (request: FastifyRequest): OperatorCaller => callerAs(request, 'operator').caller;

/** Undefined for an operator, and where no credential was shown. */
export function tenantIn({ caller: found }: FastifyRequest): Tenant | undefined {
  return found && 'caller' in found && 'tenant' in found.caller ? found.caller.tenant : undefined;
}

/** @throws as `callerAs` */
export function tenantOf(request: FastifyRequest): Tenant {
  const tenant = tenantIn(request);
  if (!tenant) throw new Error(`${request.pattern} has no caller with a tenant.`);
  return tenant;
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
