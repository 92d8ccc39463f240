import {
  type AuditEntry,
  type ChainStart,
  type ChainVerdict,
  verifyChain,
} from '@behest/protocol/audit-chain';
import { readGrantClaims } from '@behest/protocol/claims-reading';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { CallOptions } from '../api/rows.ts';
import type {
  Agent,
  AuthorizationRequest,
  AuthorizationsApi,
  GrantsVerifyAnswer,
  ScimApi,
  ScimPage,
  ScimResource,
} from '../api/types.gen.ts';
import { BehestDeniedError, BehestTokenError } from '../errors.ts';
import { grantOf, type VerifiedGrant } from '../verify/verified-grant.ts';
import { wait } from './retries.ts';

const POLLED_EVERY = 2_000; // milliseconds

/** Waits for the person. */
export function waiterOf(
  { get, code }: Pick<AuthorizationsApi, 'get' | 'code'>,
  pauseFor: typeof wait = wait,
) {
  return async (id: string, { signal, ...options }: CallOptions = {}): Promise<string> => {
    for (;;) {
      const { status }: AuthorizationRequest = await get(id, { ...options, signal });
      if (status === 'approved') return (await code(id, { ...options, signal })).code;
      if (status !== 'pending') {
        const reason = `The authorization request is ${status}.`;
        throw new BehestDeniedError({ reason, reason_code: status, sub_reason: null, details: { id } });
      }
      await pauseFor(POLLED_EVERY, signal);
    }
  };
}

/** @throws BehestTokenError when the grant is not active */
export function grantIn({ active, reason, claims: payload = {} }: GrantsVerifyAnswer): VerifiedGrant {
  if (!active) throw new BehestTokenError(reason ?? 'revoked');
  const read = readGrantClaims(payload);
  if (!read.ok) throw new BehestTokenError(read.reason);
  const { iss, iat, exp } = payload;
  const timeOf = (seconds: unknown) => new Date(Number(seconds) * 1_000);
  const times = { expiresAt: timeOf(exp), ...(iat !== undefined && { issuedAt: timeOf(iat) }) };
  const claims = { ...read.claims, ...times, issuer: String(iss) };
  return grantOf({ claims, payload });
}

/** Checks entries by themselves, without asking the service. */
export function checkChain(entries: Iterable<AuditEntry>, start: ChainStart = {}): ChainVerdict {
  return verifyChain(entries, start, (text) => bytesToHex(sha256(utf8ToBytes(text))));
}

/** The calls of one kind of SCIM resource, with one token. */
export interface ScimCalls {
  list(query?: Parameters<ScimApi['listUsers']>[0], options?: CallOptions): ReturnType<ScimApi['listUsers']>;
  search(input: object, options?: CallOptions): Promise<ScimPage>;
  get(id: string, options?: CallOptions): Promise<ScimResource>;
  create(input: object, options?: CallOptions): Promise<ScimResource>;
  replace(id: string, input: object, options?: CallOptions): Promise<ScimResource>;
  update(id: string, input: object, options?: CallOptions): Promise<ScimResource>;
  delete(id: string, options?: CallOptions): Promise<void>;
}

export function scimCalls(scim: ScimApi, kind: 'User' | 'Group', scimToken: string): ScimCalls {
  const withToken = (options?: CallOptions) => ({ ...options, scimToken });
  return {
    list: (query, options) => scim[`list${kind}s`](query, withToken(options)),
    search: (input, options) => scim[`search${kind}s`]({ ...input }, withToken(options)),
    get: (id, options) => scim[`get${kind}`](id, {}, withToken(options)),
    create: (input, options) => scim[`create${kind}`]({ ...input }, {}, withToken(options)),
    replace: (id, input, options) => scim[`replace${kind}`](id, { ...input }, {}, withToken(options)),
    update: (id, input, options) => scim[`update${kind}`](id, { ...input }, {}, withToken(options)),
    delete: (id, options) => scim[`delete${kind}`](id, withToken(options)),
  };
}

/** Suspends an agent, or lets it work again. */
export type ChangesStatus = (id: string, options?: CallOptions) => Promise<Agent>;
