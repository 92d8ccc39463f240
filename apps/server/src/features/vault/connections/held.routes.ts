import { cookiesIn } from '../../../platform/http/callers/credentials.ts';
import { cookieName, type PageHold, signOnIn } from './browser.ts';
import { rates } from './connections.rates.ts';
import type { ConnectDeps } from './deps.ts';

interface FromBrowser {
  readonly params: { readonly id: string };
  readonly headers: { readonly cookie?: string | undefined };
}

/** The calls of the page, by the browser that holds it. */
export const onPage = { access: 'connect', fromOwnPages: true, rate: rates.connect } as const;

/** Reads the claim of a browser to a connect session. */
export const holdReader =
  ({ publicBaseUrl }: Pick<ConnectDeps, 'publicBaseUrl'>) =>
  ({ params, headers }: FromBrowser): PageHold => ({
    sessionId: params.id,
    secret: cookiesIn(headers)[cookieName(params.id, publicBaseUrl)] ?? '',
    signOn: signOnIn(cookiesIn(headers), publicBaseUrl),
  });
