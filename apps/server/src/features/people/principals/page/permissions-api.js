/** @import { Answer, Problem, Refusal } from '../../../../platform/page/types.js' */
/** @import { EntryPage, GrantPage } from './types.js' */
import { call } from '../../../../platform/page/call.js';

const MOST = 500;
const ENTRIES = 20;

/**
 * The calls of one session. Only this closure holds the token.
 * @param {string} token
 */
export function permissionsApi(token) {
  const headers = { Authorization: `Bearer ${token}` };
  /** @type {(path: string, method?: string, body?: object) => Promise<Answer<any>>} */
  const ask = (path, method, body) => call(`/v1/principal/${path}`, { method, body, headers, read });

  /** @type {(query: Record<string, string | null | undefined>) => string} */
  const queryOf = (query) =>
    new URLSearchParams(
      Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : [])),
    ).toString();

  /** @type {(what: 'grants' | 'connections' | 'passkeys' | 'stops') => Promise<Answer<any>>} */
  async function allOf(what) {
    const rows = [];
    for (let cursor = null; ; ) {
      const answer = await ask(`${what}?${queryOf({ limit: String(MOST), cursor })}`);
      if (!answer.ok) return answer;
      rows.push(...answer.body[what]);
      cursor = answer.body.nextCursor;
      if (cursor === null) return { ok: true, body: { ...answer.body, [what]: rows } };
    }
  }

  return {
    /**
     * All active grants, or the refusal of a page of them.
     * @type {() => Promise<Answer<GrantPage>>}
     */
    activeGrants: () => allOf('grants'),
    /** @type {() => Promise<Answer<{ connections: import('./types.js').Connection[] }>>} */
    connections: () => allOf('connections'),
    /** @type {() => Promise<Answer<{ passkeys: import('./types.js').Passkey[] }>>} */
    passkeys: () => allOf('passkeys'),
    /** @type {() => Promise<Answer<{ stops: import('./types.js').Stop[] }>>} */
    stops: () => allOf('stops'),
    /** @type {() => Promise<Answer<{ address: import('./types.js').Address | null }>>} */
    address: () => ask('address'),
    removeAddress: () => ask('address', 'DELETE'),
    /** @param {string} id */
    liftStop: (id) => ask(`stops/${encodeURIComponent(id)}`, 'DELETE'),
    /** @param {string} id */
    removePasskey: (id) => ask(`passkeys/${encodeURIComponent(id)}`, 'DELETE'),
    /** @type {(cursor: string | null) => Promise<Answer<GrantPage>>} */
    allGrants: (cursor) => ask(`grants?${queryOf({ status: 'all', cursor })}`),
    /** @type {(cursor: string | null, grantId?: string) => Promise<Answer<EntryPage>>} */
    entries: (cursor, grantId) => ask(`audit?${queryOf({ limit: String(ENTRIES), cursor, grantId })}`),
    /** @type {(grantId: string) => Promise<Answer<Blob>>} */
    receipt: (grantId) =>
      call(`/v1/principal/grants/${encodeURIComponent(grantId)}/receipt?format=html`, {
        ...{ headers, read, isFile: true },
      }),
    /** @param {string} grantId */
    end: (grantId) => ask(`grants/${encodeURIComponent(grantId)}`, 'DELETE'),
    endAll: () => ask('grants', 'DELETE'),
    /** @param {string} id */
    disconnect: (id) => ask(`connections/${encodeURIComponent(id)}`, 'DELETE'),
    /** @type {(service: string) => Promise<Answer<{ connectUrl: string }>>} */
    connectAgain: (service) => ask('connections', 'POST', { service }),
    close: () => ask('session', 'DELETE'),
  };
}

/** @type {(refusal: Refusal) => Problem} */
function read({ status, code, requestId: reference = '' }) {
  if (status === 401) return { kind: 'noSession' };
  if (code === 'PRINCIPAL_VERIFICATION_REQUIRED') return { kind: 'proof' };
  if (status === 404) return { kind: 'unknown' };
  return { kind: 'refused', reference };
}
