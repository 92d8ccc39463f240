import { AppError, notFound } from '../../../platform/errors.ts';
import { hashOf, newId, newSecret } from '../../../platform/ids.ts';
import { inLocales, uiLocalesOf } from '../../../platform/languages.ts';
import { toOAuthError } from '../../../platform/oauth-errors.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { findAccount, findBrand } from '../../accounts/developers/developers.queries.ts';
import { readNaming } from '../../grants/consent/index.ts';
import { mustHaveActiveConnection } from '../../people/sso/sso.queries.ts';
import { clientFor } from './authorize.ts';
import { requestByChannel } from './channel.ts';
import { type Client, findClient } from './client.ts';
import type { DeviceDeps } from './device.ts';
import {
  findPendingCode,
  forgetPendingCode,
  keepPendingCode,
  type PendingUserCode,
  readUserCode,
} from './device.ts';
import type { BrowserRedirect, UserCodeEntry, UserCodeQuestion, WaitingBrand } from './oauth.schema.ts';
import {
  applicationAddress,
  type Browser,
  findLoginUrl,
  noSignInMethod,
  signedOnPerson,
  signInAddress,
} from './person.ts';
import { keepFlow, secondsLeft } from './poll.ts';
import { acceptChannelForm } from './request.rules.ts';

/** The wrong codes that lock the entry, for a browser and for an address, in a window of so many seconds. */
const WRONG_BY_BROWSER = 5;
const WRONG_BY_ADDRESS = 20;
const WINDOW_SECONDS = 600;

/** A browser at the page, by its cookie. */
interface EnteringBrowser extends Browser {
  readonly browserId: string;
}

/**
 * Makes the request of the device whose code the person has entered, and leads them to it. A code is entered once.
 * @throws NOT_FOUND for a code that is unknown or used, CONFLICT where the request is refused, RATE_LIMITED
 */
export async function enterUserCode(
  deps: DeviceDeps,
  { userCode: text, hint, uiLocales: said }: UserCodeEntry,
  browser: EnteringBrowser,
): Promise<BrowserRedirect> {
  await countEntry(deps, browser, 0);
  const userCode = readUserCode(text);
  const waiting = userCode === undefined ? undefined : await findPendingCode(deps, userCode);
  if (!userCode || !waiting) {
    await countEntry(deps, browser, 1);
    throw notFound();
  }
  // The code is right, so it is not counted as a guess when the document of the client cannot be fetched.
  const known = await findClient(deps, waiting.clientId, browser.address);
  if (!known) throw notFound();
  const slot = { key: `bh:{entered:${waiting.flowId}}`, owner: newSecret() };
  const refuse = async (error: unknown): Promise<never> => {
    if (!isFinal(error)) throw error;
    await takeEntry(deps, slot); // another browser may have made the request meanwhile
    await endFlow(deps, waiting, error);
    await forgetPendingCode(deps, userCode);
    throw new AppError('CONFLICT', 'The request of this device is refused; the device learns why.');
  };
  const uiLocales = uiLocalesOf(said);
  const entering = { waiting, userCode, hint, uiLocales };
  const named = await clientFor(deps, known, waiting.form, browser)
    .then(async (client) => ({ client, person: await personOf(deps, client, entering, browser) }))
    .catch(refuse);
  const { client, person } = named;
  if (person === undefined) {
    await countEntry(deps, browser, 1);
    throw notFound();
  }
  if ('signInAt' in person) return { redirectTo: person.signInAt };
  await takeEntry(deps, slot);
  const redirectTo = await makeRequest(deps, client, { waiting, userCode, ...person }).catch(
    async (error: unknown) => {
      if (!isFinal(error)) await deps.store.freeSlot(slot);
      return refuse(error);
    },
  );
  await forgetPendingCode(deps, userCode);
  return { redirectTo: inLocales(redirectTo, uiLocales) };
}

/**
 * The account whose device waits with a code. A wrong code counts as one that was entered.
 * @throws NOT_FOUND, RATE_LIMITED
 */
export async function brandOfCode(
  deps: DeviceDeps,
  { userCode: text }: UserCodeQuestion,
  browser: EnteringBrowser,
): Promise<WaitingBrand> {
  await countEntry(deps, browser, 0);
  const userCode = readUserCode(text);
  const waiting = userCode === undefined ? undefined : await findPendingCode(deps, userCode);
  if (waiting) return findBrand(deps.db, waiting);
  await countEntry(deps, browser, 1);
  throw notFound();
}

/** Of the entries of one code, one goes on. @throws NOT_FOUND to the others */
async function takeEntry(
  { store }: Pick<DeviceDeps, 'store'>,
  slot: { readonly key: string; readonly owner: string },
): Promise<void> {
  if (!(await store.takeSlot({ ...slot, most: 1, seconds: WINDOW_SECONDS }))) throw notFound();
}

interface Entering {
  readonly waiting: PendingUserCode;
  readonly userCode: string;
  readonly hint: string | undefined;
  /** The languages that the page was asked for. */
  readonly uiLocales: string | undefined;
}

type Person =
  | { readonly principalId: string; readonly hint?: string }
  /** The address at which the person signs in first. */
  | { readonly signInAt: string };

/**
 * Finds out whose code it is: the client has named them, the browser is signed in, or the developer's application names them
 * by a hint for the id that it got with this code.
 * @returns undefined for a hint that is not good
 * @throws access_denied where there is no way to sign in any longer, CONFLICT
 */
async function personOf(
  deps: DeviceDeps,
  client: Client,
  { waiting, userCode, hint, uiLocales }: Entering,
  browser: EnteringBrowser,
): Promise<Person | undefined> {
  if (waiting.principalId !== null) return { principalId: waiting.principalId };
  const { tenant } = client.caller;
  const { consentMode, consentKeys } = await findAccount(deps.db, tenant);
  const returnTo = inLocales(`/device?user_code=${userCode}`, uiLocales);
  if (consentMode !== 'developer') {
    const signedOn = await signedOnPerson(deps, client, { ...browser, since: null, isSignedIn: false });
    if (signedOn !== undefined) return { principalId: signedOn };
    await mustHaveActiveConnection(deps.db, tenant);
    return { signInAt: signInAddress(deps, client, { returnTo, uiLocales }) };
  }
  const { requestId } = waiting;
  if (hint !== undefined && requestId !== undefined) {
    const use = { issuer: deps.issuer, now: deps.clock() };
    const named = readNaming(hint, { ...tenant, consentKeys, requestId }, use);
    return named && { principalId: named.principalId, hint };
  }
  const loginUrl = await findLoginUrl(deps, client, waiting.form.resource);
  if (loginUrl === undefined) throw noSignInMethod();
  const id = requestId ?? newId('areq', deps.clock());
  await keepPendingCode(deps, userCode, { ...waiting, requestId: id });
  const address = applicationAddress(loginUrl, id, `${deps.publicBaseUrl}${returnTo}`);
  if (uiLocales !== undefined) address.searchParams.set('ui_locales', uiLocales);
  return { signInAt: address.href };
}

interface Entered {
  readonly waiting: PendingUserCode;
  readonly principalId: string;
  readonly userCode: string;
  readonly hint?: string;
}

/** @returns the address of the consent page */
async function makeRequest(
  deps: DeviceDeps,
  client: Client,
  { waiting, principalId, userCode, hint }: Entered,
): Promise<string> {
  const { flowId, form } = waiting;
  const known = waiting.requestId === undefined ? {} : { requestId: waiting.requestId };
  const { id: requestId, consentUrl } = await requestByChannel(deps, client, {
    channel: 'device',
    asked: acceptChannelForm(form),
    principalId,
    comparedText: userCode,
    seconds: secondsLeft(waiting, deps.clock()),
    ...known,
  });
  await keepFlow(deps, flowId, { ...flowOf(waiting), requestId });
  return hint === undefined ? consentUrl : `${consentUrl}&hint=${hint}`;
}

/** Whether trying again would be refused for the same reason. */
const isFinal = (error: unknown): error is AppError =>
  error instanceof AppError && error.status < 500 && error.status !== 429;

/** The device learns at its next poll why there is no request. */
const endFlow = (deps: DeviceDeps, waiting: PendingUserCode, error: AppError): Promise<void> =>
  keepFlow(deps, waiting.flowId, { ...flowOf(waiting), requestId: null, refusal: toOAuthError(error) });

const flowOf = ({ developerId, clientId, expiresAt }: PendingUserCode) =>
  ({ developerId, clientId, channel: 'device', expiresAt }) as const;

/**
 * @param cost 0 looks whether the entry is locked, 1 counts a wrong code
 * @throws RATE_LIMITED
 * @see RFC 8628 §5.1
 */
async function countEntry(
  { store, clock }: { readonly store: EphemeralStore; readonly clock: () => Date },
  { browserId, address }: EnteringBrowser,
  cost: 0 | 1,
): Promise<void> {
  const now = Math.floor(clock().getTime() / 1000);
  const window = Math.floor(now / WINDOW_SECONDS);
  const billOf = (name: 'browser' | 'address', subject: string, limit: number) => {
    const key = `bh:{entry:${hashOf(`${name}\n${subject}`).toString('base64url')}}:${window}`;
    return { name, charges: [{ key, limit, cost, seconds: WINDOW_SECONDS }] };
  };
  const settled = await store.charge([
    billOf('browser', browserId, WRONG_BY_BROWSER),
    billOf('address', address, WRONG_BY_ADDRESS),
  ]);
  if ([...settled.values()].every(({ outcome }) => outcome === 'charged')) return;
  const retryAfter = WINDOW_SECONDS - (now % WINDOW_SECONDS);
  const message = `Rate limit exceeded, retry in ${retryAfter} seconds`;
  throw new AppError('RATE_LIMITED', message, { retryAfter }, { 'retry-after': retryAfter });
}
