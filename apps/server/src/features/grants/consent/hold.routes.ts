import { cookiesIn } from '../../../platform/http/callers/credentials.ts';
import { type ConsentDeps, type ConsentSession, cookieName, signOnCookieName } from './session.ts';

interface FromBrowser {
  readonly params: { readonly id: string };
  readonly headers: { readonly cookie?: string | undefined };
}

/** Reads the claim of a browser to a request. */
export const holdReader =
  ({ publicBaseUrl }: Pick<ConsentDeps, 'publicBaseUrl'>) =>
  ({ params, headers }: FromBrowser): ConsentSession => ({
    requestId: params.id,
    secret: cookiesIn(headers)[cookieName(params.id, publicBaseUrl)] ?? '',
    signOn: cookiesIn(headers)[signOnCookieName(publicBaseUrl)],
  });
