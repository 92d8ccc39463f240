import type { BrowserRequest } from '../../../platform/caller.ts';
import { notFound } from '../../../platform/errors.ts';
import { isSameText, newSalt, newSecret } from '../../../platform/ids.ts';
import {
  csrfTokenOf,
  encodedHash,
  mustBeBrowser,
  type PageHold,
  personWith,
  type StoredPage,
  ticketKey,
} from './browser.ts';
import { statusAt, withQuery } from './connections.rules.ts';
import type { ConnectPageState, OpenConnectPage, OpenedConnectPage } from './connections.schema.ts';
import type { ConnectDeps } from './deps.ts';
import { keepPage, openRow, pageOf, verifiedNow } from './held.ts';
import { takeHint } from './proof.ts';
import { shownConnect } from './show.ts';

interface OpeningBrowser extends Pick<BrowserRequest, 'requestId' | 'ip' | 'userAgent' | 'hasAuthorization'> {
  /** Counts this request for the connect session. @throws RATE_LIMITED */
  readonly charge: () => Promise<void>;
  readonly signOn: string | undefined;
}

/**
 * Opens the page with the ticket of the link. The last browser wins, until a browser proves its
 * person: from then on the ticket opens nothing, and nobody takes the page from that browser.
 * @throws NOT_FOUND for an unknown session, a wrong ticket and a spent one alike, GONE
 */
export async function openPage(
  deps: ConnectDeps,
  sessionId: string,
  { ticket, hint }: OpenConnectPage,
  browser: OpeningBrowser,
): Promise<{ opened: OpenedConnectPage; secret: string }> {
  mustBeBrowser(browser);
  const found = await deps.store.get(ticketKey(sessionId));
  const kept: { developerId: string; hash: string } | undefined = found && JSON.parse(found);
  if (!kept || !isSameText(kept.hash, encodedHash(ticket))) throw notFound();
  await browser.charge();
  const row = await openRow(deps, kept.developerId, sessionId);
  const secret = newSecret();
  const { developerId, mode, plan } = row;
  const nonce = newSalt();
  const page: StoredPage = {
    hash: encodedHash(secret),
    developerId,
    mode,
    plan,
    nonce,
    proofs: { hint: 'none' },
  };
  await keepPage(deps, row, page);
  const hold = { sessionId, secret, signOn: browser.signOn };
  if (hint !== undefined) await takeHint(deps, personWith(row, browser), hold, hint);
  return { opened: { ...(await showPage(deps, hold)), nonce }, secret };
}

/** @throws as `pageOf` */
export async function showPage(deps: ConnectDeps, hold: PageHold): Promise<ConnectPageState> {
  const held = await pageOf(deps, hold);
  const { row, page } = held;
  const verification = await verifiedNow(deps, held);
  const back = `${deps.publicBaseUrl}/connect?session=${row.id}`;
  const needsLogin = !verification.satisfied && verification.methods.includes('hint');
  return {
    id: row.id,
    status: statusAt(row, deps.clock()),
    reason: row.reason,
    csrfToken: csrfTokenOf(deps, hold),
    loginUrl:
      needsLogin && row.connectLoginUrl !== null
        ? withQuery(row.connectLoginUrl, { connect: row.id, nonce: page.nonce, return: back })
        : null,
    verification,
    connect: await shownConnect(deps, row),
  };
}
