import { cookieNames, readSessionCookie, ssoRequired } from '../../people/sso/index.ts';
import { standingOf } from '../../people/sso/sessions.queries.ts';
import type { SignInAt } from '../../people/sso/sso.queries.ts';
import type { ApproverRow } from './approvers.queries.ts';
import type { ApproverDeps } from './deps.ts';

type Cookies = Readonly<Record<string, string | undefined>>;
type Deps = Pick<ApproverDeps, 'clock' | 'publicBaseUrl'>;

/** The value of the cookie of single sign-on in this browser. */
export const signOnIn = ({ publicBaseUrl }: Pick<Deps, 'publicBaseUrl'>, cookies: Cookies) =>
  cookies[cookieNames(publicBaseUrl).session];

/**
 * The connection at which an approver has to sign in besides their passkey: where single sign-on is enforced for the
 * principal who they are, and this browser has no session of it.
 */
export async function missingSignOn(
  { clock }: Pick<Deps, 'clock'>,
  db: ApproverDeps['db'],
  { developerId, principalId }: Pick<ApproverRow, 'developerId' | 'principalId'>,
  signOn: string | undefined,
): Promise<SignInAt | undefined> {
  if (principalId === null) return undefined;
  const cookie = readSessionCookie(signOn);
  const asking = { principalId, now: clock(), cookie, since: null, isDemanded: false };
  const standing = await standingOf(db, { developerId }, asking);
  return standing?.session ? undefined : standing?.signInAt;
}

/** @throws SSO_REQUIRED */
export async function mustBeSignedOn(
  deps: Deps,
  db: ApproverDeps['db'],
  row: ApproverRow,
  signOn: string | undefined,
): Promise<void> {
  const demanded = await missingSignOn(deps, db, row, signOn);
  if (demanded) throw ssoRequired(deps.publicBaseUrl, demanded);
}
