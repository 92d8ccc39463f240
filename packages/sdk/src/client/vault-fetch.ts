import { segmentOf } from '../api/requests.ts';
import type { ProofKey } from '../api/rows.ts';
import { BehestError } from '../errors.ts';
import type { Fetch } from '../verify/fetch-keys.ts';
import { apiError } from './api-errors.ts';
import { answeredOf, refusalOf } from './refusals.ts';

/** The circumstances of a call through the vault. */
export interface ThroughVault {
  readonly grantToken: string;
  /** Another upstream of the profile than the first. */
  readonly upstream?: string | undefined;
  /** One or two decision grants. */
  readonly decisionGrants?: readonly string[] | undefined;
  readonly caseId?: string | undefined;
  readonly dpop?: ProofKey | undefined;
}

/**
 * Calls an upstream through the vault, which adds the credential of the person.
 *
 * @returns the answer of the upstream, whatever its status
 * @throws BehestApiError when the service does not pass the call on
 */
export async function fetchThroughVault(
  { baseUrl, fetch }: { readonly baseUrl: string; readonly fetch: Fetch },
  [service, path]: readonly [service: string, path: string],
  init: RequestInit,
  { grantToken, upstream, decisionGrants, caseId, dpop }: ThroughVault,
): Promise<Response> {
  const root = `${baseUrl}/v1/vault/proxy/${segmentOf('service', service)}/`;
  const [url, asked] = addressOf(root, path);
  const headers = new Headers(init.headers);
  const proof = await dpop?.proof(init.method ?? 'GET', url, { accessToken: grantToken });
  headers.set('authorization', `${proof === undefined ? 'Bearer' : 'DPoP'} ${grantToken}`);
  if (proof !== undefined) headers.set('dpop', proof);
  if (upstream !== undefined) headers.set('behest-upstream', upstream);
  if (decisionGrants) headers.set('behest-decision-grant', decisionGrants.join(','));
  if (caseId !== undefined) headers.set('behest-case', caseId);
  const answer = await fetch(`${url}${asked}`, { ...init, headers, redirect: 'manual' });
  if (answer.headers.get('behest-proxy') === 'upstream') return answer;
  throw apiError(refusalOf(answeredOf(answer), await answer.text()));
}

/**
 * The address of a path below `root`, and its query.
 *
 * @throws BehestError for a path that a URL parser would read in another way: it takes a backslash for `/`, drops tabs and
 * line breaks, and ends at `#`, so that a dot segment could reach another route with the token
 */
function addressOf(root: string, path: string): readonly [url: string, query: string] {
  if (/[\\#\p{Cc}]/u.test(path))
    throw new BehestError(
      'INVALID_ARGUMENT',
      'path must not have a backslash, "#" or control characters: percent-encode them.',
    );
  const [place = '', ...query] = path.replace(/^\//, '').split('?');
  if (place.split('/').some((part) => /^(?:\.|%2e){1,2}$/i.test(part.trim())))
    throw new BehestError('INVALID_ARGUMENT', 'path must not have dot segments.');
  const url = `${root}${place}`;
  const [read, below] = [new URL(url), new URL(root)];
  if (read.origin !== below.origin || !read.pathname.startsWith(below.pathname))
    throw new BehestError('INVALID_ARGUMENT', 'path must stay below the service.');
  return [url, query.length > 0 ? `?${query.join('?')}` : ''];
}
