import type { Assertion } from '@behest/protocol/passkey-shapes';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { pageLanguage, sayIn, uiLocalesOf } from '../../../platform/languages.ts';
import { emailUnverified, thumbprintsOf } from '../../accounts/developers/index.ts';
import { nameInMail } from '../../accounts/emails/index.ts';
import {
  checkMailedCode,
  ownPageInMail,
  readVouching,
  sendMailedCode,
  signInUrl,
  unknownAddress,
  validHint,
  wrongCode,
} from '../../grants/consent/index.ts';
import { beginAssertion, finishAssertion } from '../../people/passkeys/index.ts';
import { rememberAddress } from '../../people/principals/index.ts';
import { recordBlockedAttempt } from '../../record/audit/index.ts';
import { type PageHold, pageKey } from './browser.ts';
import type { ShownRow } from './connections.repo.ts';
import type { ConnectVerified } from './connections.schema.ts';
import type { ConnectDeps } from './deps.ts';
import { keepProof, pageOf, verificationFor } from './held.ts';

/**
 * Takes the developer's word for the person, for this browser alone.
 * @throws as `pageOf`
 */
export async function takeHint(
  deps: ConnectDeps,
  caller: Caller,
  hold: PageHold,
  hint: string,
): Promise<ConnectVerified> {
  const held = await pageOf(deps, hold);
  const { row, page } = held;
  const now = deps.clock();
  const { developerId, consentKeys, principalId, id } = row;
  const claims = { conn: id, nonce: page.nonce };
  const vouched = { developerId, consentKeys, principalId, claims };
  const good =
    page.nonce === '' ? undefined : readVouching('connect-hint', hint, vouched, { issuer: deps.issuer, now });
  if (!good) {
    await reportBlocked(deps, caller, row, 'proof');
    const kept = page.proofs.hint === 'none' ? { ...page, proofs: { hint: 'bad' as const } } : page;
    return keepProof(deps, { ...held, page: kept });
  }
  const { email, keyThumbprint } = good;
  const taken = { at: now.toISOString(), keyThumbprint, ...(email !== undefined && { email }) };
  return keepProof(deps, {
    ...held,
    page: { ...page, nonce: '', proofs: { ...page.proofs, hint: taken } },
  });
}

/**
 * The address at which the person signs in, and from which the browser comes back.
 * @param said the `ui_locales` of the page's address
 * @throws CONFLICT and as `pageOf`
 */
export async function signOnAddress(
  deps: ConnectDeps,
  hold: PageHold,
  said?: string,
): Promise<{ redirectTo: string }> {
  const held = await pageOf(deps, hold);
  const { principalId, id } = held.row;
  const { standing } = await verificationFor(deps, held, deps.clock());
  const leaving = { principalId, returnTo: `/connect?session=${id}`, uiLocales: uiLocalesOf(said) };
  return { redirectTo: signInUrl(deps.publicBaseUrl, standing, leaving) };
}

/** Sends a code to the address that the hint names. @throws CONFLICT and as `sendMailedCode` */
export async function sendCode(deps: ConnectDeps, caller: Caller, hold: PageHold) {
  const { row, page } = await pageOf(deps, hold);
  const email = validHint(page.proofs, thumbprintsOf(row.consentKeys))?.email;
  if (row.consentMode !== 'email' || email === undefined) throw unknownAddress();
  if (!row.emailVerified) throw emailUnverified();
  return sendMailedCode(deps, caller, {
    subjectId: row.id,
    email,
    mailOf: (code) => connectingMail(row, code, { ...deps, language: pageLanguage(hold.languages) }),
  });
}

/** The texts of the mail with a code. @public The check of the messages reads it. */
export const texts = {
  subject: '{code} is your code to connect an account',
  lead: 'Nothing is connected without this code. If you did not open a page that asks for it, do nothing.',
  text: 'You are about to connect an account of yours for an application. Type the code into the page that asked for it. The code is good for 10 minutes. Tell it to nobody.',
  application: 'The application: {application}',
};

/** Begins with a sentence of the service, because developers choose the names. */
export const connectingMail = (
  { developerName, developerId }: Pick<ShownRow, 'developerName' | 'developerId'>,
  code: string,
  reader: Parameters<typeof ownPageInMail>[0],
) => {
  const { language } = reader;
  const say = sayIn(language);
  const application = nameInMail(developerName, developerId);
  return {
    subject: say(texts.subject, { code }),
    account: application,
    text: `${say(texts.lead)}

    ${code}

${say(texts.text)}

${say(texts.application, { application })}

${ownPageInMail(reader)}
`,
    language,
  };
};

/** @throws BAD_REQUEST for a wrong code, TOKEN_EXPIRED, UNAUTHORIZED after the last try */
export async function checkCode(
  deps: ConnectDeps,
  caller: Caller,
  hold: PageHold,
  code: string,
): Promise<ConnectVerified> {
  const held = await pageOf(deps, hold);
  const { row, page } = held;
  const email = validHint(page.proofs, thumbprintsOf(row.consentKeys))?.email;
  const outcome = await checkMailedCode(deps, row.id, { code, email });
  if (outcome !== 'right') {
    await reportBlocked(deps, caller, row, 'proof');
    if (outcome === 'last') await deps.store.remove(pageKey(row.id));
    throw wrongCode(outcome);
  }
  if (email !== undefined) {
    const proof = { principalId: row.principalId, email, about: { connectSessionId: row.id } };
    await rememberAddress(deps, caller, proof);
  }
  const proofs = { ...page.proofs, mailReadAt: deps.clock().toISOString() };
  return keepProof(deps, { ...held, page: { ...page, proofs } });
}

/** Records what did not prove the person, or came from elsewhere. */
export function reportBlocked(
  { db, clock }: ConnectDeps,
  caller: Caller,
  { id, principalId, service }: Pick<ShownRow, 'id' | 'principalId' | 'service'>,
  reason: 'proof' | 'browser' | 'provider' | 'issuer',
): Promise<void> {
  const data = { connectSessionId: id, service, reason };
  const attempt = { action: 'vault.connection.blocked', about: { principalId }, data } as const;
  return inTransaction(db, (tx) => recordBlockedAttempt(tx, caller, attempt, clock()));
}

const subjectOf = ({ id: subjectId, principalId }: ShownRow) =>
  ({ use: 'connect', subjectId, principalId }) as const;

/** Asks for the person's passkey over what is to be connected. @throws FIDO_NOT_ENROLLED, CONFLICT */
export async function askForPasskey(deps: ConnectDeps, { tenant }: Caller, hold: PageHold) {
  const { row } = await pageOf(deps, hold);
  const { providerId, service, scopes, principalId } = row;
  return beginAssertion(deps, tenant, subjectOf(row), { providerId, service, scopes, principalId });
}

/** @throws CHALLENGE_INVALID, WEBAUTHN_VERIFICATION_FAILED, WEBAUTHN_CLONE_SUSPECTED, BAD_REQUEST */
export async function takePasskey(
  deps: ConnectDeps,
  caller: Caller,
  hold: PageHold,
  assertion: Assertion,
): Promise<ConnectVerified> {
  const { row } = await pageOf(deps, hold);
  const passkey = await finishAssertion(deps, caller, subjectOf(row), assertion).catch(
    async (error: unknown) => {
      if (error instanceof AppError) await reportBlocked(deps, caller, row, 'proof');
      throw error;
    },
  );
  const held = await pageOf(deps, hold); // another proof may have come meanwhile
  const { page } = held;
  return keepProof(deps, { ...held, page: { ...page, proofs: { ...page.proofs, passkey } } });
}
