/** @import { Answer, Problem, Refusal } from '../../../../platform/page/types.js' */
/** @import { EntryPage, Grant, GrantPage } from './types.js' */
import { call } from '../../../../platform/page/call.js';

const MOST_GRANTS = 500;
const ENTRIES = 20;

/**
 * The calls of one session. Only this closure holds the token.
 * @param {string} token
 */
export function permissionsApi(token) {
  /** @type {(path: string, method?: string) => Promise<Answer<any>>} */
  const ask = (path, method) =>
    call(`/v1/principal/${path}`, { method, headers: { Authorization: `Bearer ${token}` }, read });

  /** @type {(query: Record<string, string | null | undefined>) => string} */
  const queryOf = (query) =>
    new URLSearchParams(
      Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : [])),
    ).toString();

  return {
    /**
     * All active grants, or the refusal of a page of them.
     * @returns {Promise<Answer<GrantPage>>}
     */
    async activeGrants() {
      /** @type {Grant[]} */
      const grants = [];
      for (let cursor = null; ; ) {
        const answer = await ask(`grants?${queryOf({ limit: String(MOST_GRANTS), cursor })}`);
        if (!answer.ok) return answer;
        grants.push(...answer.body.grants);
        cursor = answer.body.nextCursor;
        if (cursor === null) return { ok: true, body: { ...answer.body, grants } };
      }
    },
    /** @type {(cursor: string | null) => Promise<Answer<GrantPage>>} */
    allGrants: (cursor) => ask(`grants?${queryOf({ status: 'all', cursor })}`),
    /** @type {(cursor: string | null, grantId?: string) => Promise<Answer<EntryPage>>} */
    entries: (cursor, grantId) => ask(`audit?${queryOf({ limit: String(ENTRIES), cursor, grantId })}`),
    /** @param {string} grantId */
    end: (grantId) => ask(`grants/${encodeURIComponent(grantId)}`, 'DELETE'),
    endAll: () => ask('grants', 'DELETE'),
    close: () => ask('session', 'DELETE'),
  };
}

/** @type {(refusal: Refusal) => Problem} */
function read({ status, requestId: reference = '' }) {
  if (status === 401) return { kind: 'noSession' };
  if (status === 404) return { kind: 'unknown' };
  return { kind: 'refused', reference };
}
