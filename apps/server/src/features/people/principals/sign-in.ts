import { createHmac, type KeyObject } from 'node:crypto';
import type { Tenant } from '../../../platform/caller.ts';
import type { ChargeRecipient } from '../../../platform/charge.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { holdPrincipal } from '../../../platform/db/principals.ts';
import { AppError, badField } from '../../../platform/errors.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { hashOf, newId, newSecret } from '../../../platform/ids.ts';
import { isBeyondMail, type Mail, type Mailer } from '../../../platform/mail/mailer.ts';
import { findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { nameInMail } from '../../accounts/emails/index.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { isKnownAddress, type KnownPerson, listPeopleAcrossTenants, putAddress } from './principals.repo.ts';
import type { CreatedPrincipalSession, SentSignInLink } from './principals.schema.ts';
import { openOwnSession, type PrincipalDeps, type ShownPerson } from './session.ts';

export const ADDRESS_KEY_USE = 'behest/principal-address/v1';

/** Counted for every address that anybody names, so a refusal tells nothing about it. */
export const mailRates = rateRules({
  principalMail: {
    perHour: 5,
    describes: 'mailed links to the page of the own permissions, asked for by anybody, by the address named',
    counts: [{ by: 'recipient' }],
  },
});

const LINK_SECONDS = 600;
/** The links of one mail: one for each account that the person proved the address to last, and more where there is room. */
const MOST_LINKS = 5;
/** An address may get another owner, so a proof of it counts for so long. */
const PROOF_MS = 180 * 86_400_000;

export interface SignInDeps extends PrincipalDeps {
  /** Undefined where the service sends no mail. */
  readonly mailer?: Mailer;
  readonly chargeRecipient: ChargeRecipient;
  readonly onMailFailed: () => void;
}

interface Addressed {
  readonly principalId: string;
  readonly email: string;
}

/** Of an address the service keeps what it can be recognised by, and not the address. The newest key comes first. */
function hashesOf({ keyRing }: { readonly keyRing: KeyRing }, email: string): [Buffer, ...Buffer[]] {
  const { current, previous } = keyRing.derive(ADDRESS_KEY_USE);
  const under = (key: KeyObject) => createHmac('sha256', key).update(email.toLowerCase()).digest();
  return [under(current), ...previous.map(under)];
}

/**
 * Remembers the address of a person who has read a mail there, and for whom the developer vouches with it. It takes the
 * place of the one before.
 */
export async function rememberAddress(
  deps: Pick<PrincipalDeps, 'db' | 'clock' | 'keyRing'>,
  tenant: Tenant,
  { principalId, email }: Addressed,
): Promise<void> {
  const [addressHash] = hashesOf(deps, email);
  const row = { principalId, addressHash, provedAt: deps.clock() };
  await inTransaction(deps.db, async (tx) => {
    if (await holdPrincipal(tx, tenant, principalId)) await putAddress(tx, tenant, row);
  });
}

/**
 * Mails links to the page of the own permissions, if people have proved this address. The answer is the same, and comes as
 * soon, for every address.
 * @throws BAD_REQUEST, NOT_CONFIGURED, RATE_LIMITED
 */
export async function sendSignInLink(deps: SignInDeps, address: string): Promise<SentSignInLink> {
  const { mailer } = deps;
  if (!mailer) throw new AppError('NOT_CONFIGURED', 'This service sends no mail.', { setting: 'SMTP_URL' });
  const email = address.toLowerCase();
  if (isBeyondMail(email)) throw badField('email', 'not_allowed', 'Give an address without such letters.');
  await deps.chargeRecipient([mailRates.principalMail], email, NOBODY);
  // Nobody waits for it: the time of an answer would tell whether the address is known.
  void mailLinks(deps, mailer, email).catch(deps.onMailFailed);
  return { message: 'If this address is known here, a mail with a link is on its way.' };
}

/** No account asks for these mails, and none is counted for them. */
const NOBODY: Tenant = { developerId: '' };

async function mailLinks(deps: SignInDeps, mailer: Mailer, email: string): Promise<void> {
  const since = new Date(deps.clock().getTime() - PROOF_MS);
  const people = await listPeopleAcrossTenants(deps.db, hashesOf(deps, email), { since, most: MOST_LINKS });
  if (people.length === 0) return;
  const links: AccountLink[] = [];
  for (const person of people) {
    const developerName = await findDeveloperName(deps.db, person);
    links.push({ developerName, developerId: person.developerId, link: await newLink(deps, person) });
  }
  await mailer.send({ to: email, ...signInMail(links) });
}

interface KeptLink {
  readonly developerId: string;
  readonly principalId: string;
  /** Of the address, in base64url. */
  readonly addressHash: string;
  /** In ISO 8601. The store may keep it for longer. */
  readonly expiresAt: string;
}

const linkKey = (token: string) => `bh:{principal-link:${hashOf(token).toString('base64url')}}`;

/** The token stands behind `#`: what opens links ahead of people sends nothing of it. */
async function newLink(
  deps: SignInDeps,
  { developerId, principalId, addressHash }: KnownPerson,
): Promise<string> {
  const token = newSecret();
  const expiresAt = new Date(deps.clock().getTime() + LINK_SECONDS * 1000).toISOString();
  const kept: KeptLink = {
    ...{ developerId, principalId, expiresAt },
    addressHash: addressHash.toString('base64url'),
  };
  await deps.store.put([{ key: linkKey(token), value: JSON.stringify(kept), seconds: LINK_SECONDS }]);
  return `${deps.publicBaseUrl}/permissions#link=${token}`;
}

interface AccountLink {
  readonly developerName: string;
  readonly developerId: string;
  readonly link: string;
}

/** Begins with a sentence of the service, because developers choose the names. Of several accounts, none is its heading. */
export function signInMail(links: readonly AccountLink[]): Omit<Mail, 'to'> {
  const named = links.map((each) => ({ ...each, account: nameInMail(each.developerName, each.developerId) }));
  const [only, ...others] = named;
  return {
    subject: 'Your link to what agents may do for you',
    button: 'Open your permissions',
    ...(only && others.length === 0 && { account: only.account }),
    text: `Somebody asked for a link to the page on which you see, and end, what AI agents may do for you. If it was not you, do nothing.

${named.map(({ account, link }) => `The account: ${account}\n\n    ${link}\n`).join('\n')}
A link is good for 10 minutes, and once. Hand it on to nobody.
`,
  };
}

/**
 * Opens the page of the person to whom a link was mailed. A link opens it once.
 * @throws TOKEN_EXPIRED for an unknown, a used and an old link alike, and as `openOwnSession`
 */
export async function useSignInLink(
  deps: SignInDeps,
  token: string,
  browser: Pick<ShownPerson, 'requestId' | 'signOn'>,
): Promise<CreatedPrincipalSession> {
  const at = deps.clock();
  const key = linkKey(token);
  const text = await deps.store.get(key);
  const kept: KeptLink | undefined = text === undefined ? undefined : JSON.parse(text);
  if (!kept || new Date(kept.expiresAt) <= at) throw linkOver();
  // Two uses of one link find one slot.
  const slot = { key: `${key}:taken`, owner: newId('psn', at), most: 1, seconds: LINK_SECONDS };
  if (!(await deps.store.takeSlot(slot))) throw linkOver();
  const { developerId, principalId, addressHash } = kept;
  const tenant = { developerId };
  const person = { tenant, principalId, method: 'email', ...browser } as const;
  const opened = await openOwnSession(deps, person, async (tx, _, { consentMode }) => {
    const row = { principalId, addressHash: Buffer.from(addressHash, 'base64url') };
    if (consentMode !== 'email') throw linkOver(); // a mailbox is no longer enough
    if (!(await isKnownAddress(tx, tenant, row))) throw linkOver(); // another address has taken its place
    return [];
  }).catch(async (error: unknown) => {
    if (error instanceof AppError) await deps.store.freeSlot(slot); // the link opened nothing yet
    throw error;
  });
  await deps.store.remove(key);
  return opened;
}

const linkOver = () => new AppError('TOKEN_EXPIRED', 'This link is no longer valid. Ask for another link.');
