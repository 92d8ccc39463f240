import type { Mode } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { inLocales, uiLocalesOf } from '../../../platform/languages.ts';
import { thumbprintsOf } from '../../accounts/developers/index.ts';
import type { OnEnforced } from '../../people/sso/index.ts';
import { readSessionCookie, ssoRequired } from '../../people/sso/index.ts';
import { type SignOnState, standingOf } from '../../people/sso/sessions.queries.ts';
import { openRequests } from '../authorization/authorization.queries.ts';
import { sessionKey } from '../authorization/index.ts';
import { type ConsentMode, type Proofs, verificationOf, withSignOn } from './consent.rules.ts';
import type { ConsentVerification, SignOnRedirect } from './consent.schema.ts';
import { type ConsentDeps, type ConsentSession, requestOfSession } from './session.ts';

/** A person at a page, with the demands of their developer and the proofs of their browser. */
interface AtPage {
  readonly developerId: string;
  readonly principalId: string;
  readonly mode: Mode;
  readonly consentMode: ConsentMode;
  readonly consentKeys: unknown;
  /** Whether the developer enforces any connection. */
  readonly enforcesSso: unknown;
  readonly proofs: Proofs;
  readonly proofIsRequired: boolean;
  /** The earliest sign-in that counts. */
  readonly authenticatedSince?: Date | null;
  /** The cookie of a session of single sign-on. */
  readonly signOn: string | undefined;
}

interface Verified {
  readonly verification: ConsentVerification;
  /** Undefined where single sign-on is not demanded of the person. */
  readonly standing: SignOnState | undefined;
}

/**
 * Decides at each call: a proof that the developer configures later is demanded from then on, and one that ran out
 * counts no more.
 */
export async function verifyPerson(db: Executor, person: AtPage, now: Date): Promise<Verified> {
  const { developerId, principalId, consentMode, authenticatedSince: since = null } = person;
  const proved = verificationOf({ ...person, consentKeys: thumbprintsOf(person.consentKeys), now });
  const isDemanded = consentMode === 'sso';
  const cookie = readSessionCookie(person.signOn);
  const standing =
    isDemanded || person.enforcesSso
      ? await standingOf(db, { developerId }, { principalId, now, cookie, since, isDemanded })
      : undefined;
  return { standing, verification: standing ? withSignOn(proved, standing) : proved };
}

/** The refusal of a person who has not proved enough. Where only the sign-on is missing, it says where to sign in. */
export function unproved(publicBaseUrl: string, { verification, standing }: Verified): AppError {
  const { mode, methods } = verification;
  const isOnlySignOn = methods[0] === 'sso'; // which comes last
  if (isOnlySignOn && standing?.signInAt) return ssoRequired(publicBaseUrl, standing.signInAt);
  return proofMissing(mode, methods);
}

export function proofMissing(
  mode: ConsentVerification['mode'],
  methods: readonly string[] = [mode],
): AppError {
  const code = mode === 'passkey' ? 'FIDO_REQUIRED' : 'PRINCIPAL_VERIFICATION_REQUIRED';
  const message = 'First prove who you are: open the link again from the application that sent you.';
  return new AppError(code, message, { methods });
}

interface Leaving {
  readonly principalId: string;
  /** The path of the page to which the browser comes back. */
  readonly returnTo: string;
  /** The languages that the page was asked for. */
  readonly uiLocales: string | undefined;
}

/**
 * The address at which the person signs in, and from which the browser comes back to the page.
 * @throws CONFLICT where the service cannot tell the provider of this person
 */
export function signInUrl(
  publicBaseUrl: string,
  standing: SignOnState | undefined,
  { principalId, returnTo, uiLocales }: Leaving,
): string {
  if (!standing?.signInAt) {
    const message =
      'The identity provider of this person is unknown. Open the link again from your application.';
    throw new AppError('CONFLICT', message, { field: 'principalId' });
  }
  const more = new URLSearchParams({
    mode: 'redirect',
    return_to: inLocales(returnTo, uiLocales),
    ...((standing.isOtherPerson || standing.isTooOld) && { prompt: 'login' }),
    ...(/^[^@]+@[^@]+$/.test(principalId) && { login_hint: principalId }),
    ...(uiLocales !== undefined && { ui_locales: uiLocales }),
  });
  return `${publicBaseUrl}${standing.signInAt.loginPath}&${more}`;
}

/**
 * The address at which the person signs in, and from which the browser comes back to the page.
 * @param said the `ui_locales` of the page's address
 * @throws as `requestOfSession`, CONFLICT where the service cannot tell the provider of this person
 */
export async function signOnAddress(
  deps: ConsentDeps,
  session: ConsentSession,
  said?: string,
): Promise<SignOnRedirect> {
  const { row, standing } = await requestOfSession(deps, session);
  const { principalId } = row;
  const leaving = {
    principalId,
    returnTo: `/consent?req=${session.requestId}`,
    uiLocales: uiLocalesOf(said),
  };
  return { redirectTo: signInUrl(deps.publicBaseUrl, standing, leaving) };
}

/**
 * Ends the pages of open requests of whose principals single sign-on is demanded from now on. The store may lose or keep
 * them: each approval looks at the demand itself.
 */
export const endPages: OnEnforced = async (tx, { tenant }, { concerned, store }) => {
  const open = await openRequests(tx, tenant);
  const ending = new Set(await concerned([...new Set(open.map(({ principalId }) => principalId))]));
  const ended = open.filter(({ principalId }) => ending.has(principalId));
  await Promise.all(ended.map(({ id }) => store.remove(sessionKey(id)))).catch(() => {});
  return [];
};
