import type { BrowserRequest, Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { currentKey, newEnvelope } from '../../../platform/envelope.ts';
import { AppError } from '../../../platform/errors.ts';
import { newSecret } from '../../../platform/ids.ts';
import { recordActs } from '../../record/audit/index.ts';
import { getProviderRow, type ProviderRow, settingsOf } from '../providers/index.ts';
import {
  cookieName,
  findPage,
  type PageHold,
  personWith,
  signOnIn,
  stateHash,
  stateKey,
  usedKey,
} from './browser.ts';
import { storeReturned } from './confirm.ts';
import { changeSession, findSession, type ShownRow, stateAfterFailure } from './connections.repo.ts';
import { isIssuerWrong } from './connections.rules.ts';
import type { ConnectDeps } from './deps.ts';
import { failed, sessionOwner } from './end.ts';
import { type Held, pageOf, verificationFor } from './held.ts';
import { reportBlocked } from './proof.ts';
import type { Result, Returned } from './show.ts';
import { findFlight, type InFlight, isOwnState } from './start.ts';
import { askForTokens } from './tokens.ts';

type Browser = Pick<BrowserRequest, 'cookies' | 'requestId' | 'ip' | 'userAgent'>;

/** The person has so long to look at what came back. */
const CONFIRM_SECONDS = 600;
const USED_SECONDS = 900;
const LONGEST_CODE = 8192; // characters

/** Everything that is wrong before the upstream's answer is read gets one sentence, and leads nowhere. */
const refused = () =>
  new AppError(
    'BAD_REQUEST',
    'This answer of another service belongs to no connection in this browser. Open the link again from the application that sent you.',
  );

/**
 * Takes the answer of an upstream from the browser. The order of the checks decides what is read: no code is redeemed
 * for another browser than the one that began.
 * @returns the page to go to
 * @throws BAD_REQUEST
 */
export async function takeCallback(
  deps: ConnectDeps,
  providerId: string,
  query: URLSearchParams,
  browser: Browser,
): Promise<string> {
  const { state, flight } = await flightIn(deps, query);
  const hold = holdOf(deps, flight.sessionId, browser);
  const page = await findPage(deps, hold);
  const caller = personWith(page ?? { ...flight, mode: 'live', plan: 'free' }, browser);
  const blocked = async (reason: 'browser' | 'provider' | 'issuer') => {
    await reportBlocked(deps, caller, await namesOf(deps, flight), reason);
    return refused();
  };
  if (!page || page.started?.state !== stateHash(state)) throw await blocked('browser');
  await useUp(deps, state);
  const held = await pageOf(deps, hold);
  const { row } = held;
  if (!(await wasProved(deps, held, page.started.at))) throw await blocked('browser');
  const provider = await getProviderRow(deps.db, caller.tenant, flight.providerId);
  if (!provider || flight.providerId !== providerId) throw await blocked('provider');
  const issuers = query.getAll('iss').filter(Boolean);
  if (issuers.length > 1 || isIssuerWrong(flight, issuers[0] ?? null)) throw await blocked('issuer');
  await readAnswer(deps, caller, { row, provider, flight, query, hold });
  return `${deps.publicBaseUrl}/connect?session=${row.id}`;
}

/** The request that an answer belongs to. @throws BAD_REQUEST */
async function flightIn(deps: ConnectDeps, query: URLSearchParams) {
  const [state = '', ...others] = query.getAll('state');
  if (others.length > 0 || !isOwnState(deps, state)) throw refused();
  const flight = await findFlight(deps, state);
  if (flight === undefined) throw refused();
  return { state, flight };
}

/** A state works once, whatever comes of it, in its own browser. @throws BAD_REQUEST */
async function useUp({ store }: ConnectDeps, state: string): Promise<void> {
  const slot = { key: usedKey(state), owner: newSecret(), most: 1, seconds: USED_SECONDS };
  if (!(await store.takeSlot(slot))) throw refused();
  await store.remove(stateKey(state));
}

const holdOf = ({ publicBaseUrl }: ConnectDeps, sessionId: string, { cookies }: Browser): PageHold => ({
  sessionId,
  secret: cookies[cookieName(sessionId, publicBaseUrl)] ?? '',
  signOn: signOnIn(cookies, publicBaseUrl),
});

/** The names for the entry of a refused answer. */
async function namesOf({ db }: ConnectDeps, { developerId, sessionId }: InFlight) {
  const row = await findSession(db, { developerId }, sessionId);
  return { id: sessionId, principalId: row?.principalId ?? '', service: row?.service ?? '' };
}

/** The proof stood at the start, and neither its key is withdrawn nor the sign-on ended since. */
const wasProved = async (deps: ConnectDeps, held: Held, startedAt: string): Promise<boolean> =>
  (await verificationFor(deps, held, new Date(startedAt))).verification.satisfied;

interface Answer {
  readonly row: ShownRow;
  readonly provider: ProviderRow;
  readonly flight: InFlight;
  readonly query: URLSearchParams;
  readonly hold: PageHold;
}

async function readAnswer(deps: ConnectDeps, caller: Caller, answer: Answer): Promise<void> {
  const { row, provider, flight, query, hold } = answer;
  const error = query.get('error') ?? ''; // a parameter without a value is left out (RFC 6749, section 3.1)
  if (error === 'access_denied') return settle(deps, caller, row, 'denied', 'access_denied');
  if (error !== '') return settle(deps, caller, row, undefined, 'upstream_error');
  const [code = '', ...others] = query.getAll('code');
  if (code === '' || code.length > LONGEST_CODE || others.length > 0) {
    return settle(deps, caller, row, undefined, 'no_code');
  }
  const asked = await askForTokens(deps, caller, {
    provider,
    flight,
    code,
    principalId: row.principalId,
  });
  if ('failure' in asked) return settle(deps, caller, row, undefined, asked.failure);
  const { tokens, account, frozen } = asked;
  const { scopes: settingsScopes } = settingsOf(provider);
  const scopesGranted = tokens.scopes ?? flight.scopes;
  const at = deps.clock();
  const after = (seconds: number | undefined) =>
    seconds === undefined ? null : new Date(at.getTime() + seconds * 1000).toISOString();
  const result: Result = {
    account,
    scopesAsked: flight.scopes,
    scopesGranted,
    requiredScopes: settingsScopes.required,
    tokenExpiresAt: after(tokens.expiresInSeconds),
    refreshTokenExpiresAt: after(tokens.refreshExpiresInSeconds),
  };
  const returned: Returned = { tokens, frozen };
  const envelope = newEnvelope(currentKey(deps.vault), sessionOwner(row));
  const kept = await inTransaction(deps.db, (tx) =>
    changeSession(tx, caller.tenant, row.id, {
      from: ['started'],
      to: {
        status: 'returned',
        result: JSON.stringify(result),
        dataKey: envelope.dataKey,
        tokens: envelope.seal('tokens', JSON.stringify(returned)),
        expiresAt: new Date(at.getTime() + CONFIRM_SECONDS * 1000),
      },
    }),
  );
  if (kept) await storeReturned(deps, caller, hold, { isSameAccountOnly: true });
}

/** Records a failure. The person may start again, up to the last time. */
async function settle(
  deps: ConnectDeps,
  caller: Caller,
  row: ShownRow,
  end: 'denied' | undefined,
  reason: string,
): Promise<void> {
  const at = deps.clock();
  const status = end ?? stateAfterFailure(row);
  const isOver = status !== 'pending';
  await inTransaction(deps.db, async (tx) => {
    const to = { status, reason, ...(isOver && { decidedAt: at }) };
    const changed = await changeSession(tx, caller.tenant, row.id, { from: ['started'], to });
    if (changed && isOver) await recordActs(tx, caller, [failed(row, reason)], at);
  });
}
