import { createHmac } from 'node:crypto';
import { stringifySetCookie } from 'cookie';
import { AppError, badField } from '../../../platform/errors.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { hashOf, isSameText, newId, newSecret } from '../../../platform/ids.ts';
import { pageLanguage, sayIn } from '../../../platform/languages.ts';
import { isBeyondMail, type Mail, type Mailer } from '../../../platform/mail/mailer.ts';
import type { EphemeralStore, Slot } from '../../../platform/redis/ephemeral-store.ts';
import { findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { nameInMail } from '../../accounts/emails/index.ts';
import { hashesOf, PROOF_MS } from './addresses.ts';
import { isKnownAddress, type KnownPerson, listPeopleAcrossTenants } from './principals.repo.ts';
import type { CreatedPrincipalSession, SentSignInLink } from './principals.schema.ts';
import { openOwnSession, type PrincipalDeps, type ShownPerson } from './session.ts';

export const READER_KEY_USE = 'behest/principal-reader/v1';

/** By the client, so that a refusal tells nothing about an address, and nobody uses up what another may ask for. */
export const mailRates = rateRules({
  principalMail: {
    perHour: 30,
    describes: 'asking for a mailed link to the page of the own permissions, by client address',
    counts: [{ by: 'address' }],
  },
});

const LINK_SECONDS = 600;
/** The links of one mail: one for each account that the person proved the address to last, and more where there is room. */
const MOST_LINKS = 5;

/** The next mail to an address waits for so long, unless the link was used: the one before still has half of its time. */
const PAUSE_SECONDS = 300;
const DAY_SECONDS = 86_400;
/**
 * Mails to an address in any 24 hours. Anybody may ask for those of strangers. Who has read one of the last day, or signed
 * in by one from this browser, asks for those of readers, so a stranger shuts nobody out.
 */
const MOST_MAILS = { stranger: 6, reader: 12 } as const;
export interface SignInDeps extends PrincipalDeps {
  /** Undefined where the service sends no mail. */
  readonly mailer?: Mailer;
  readonly onMailFailed: () => void;
}

/** Who asks, with what shows that they have read a mail at the address before. */
interface Reader {
  /** The token of a mailed link, also one that is over. */
  readonly link?: string | undefined;
  /** The cookie of a browser in which a mailed link was used. */
  readonly cookie?: string | undefined;
  /** `Accept-Language`, in which the mail is written. */
  readonly languages?: string | undefined;
}

/**
 * Mails links to the page of the own permissions, if people have proved this address and it had not too many mails. The
 * answer is the same, and comes as soon, for every address.
 * @throws BAD_REQUEST, NOT_CONFIGURED
 */
export async function sendSignInLink(
  deps: SignInDeps,
  address: string,
  reader: Reader,
): Promise<SentSignInLink> {
  const { mailer } = deps;
  if (!mailer) throw new AppError('NOT_CONFIGURED', 'This service sends no mail.', { setting: 'SMTP_URL' });
  const email = address.toLowerCase();
  if (isBeyondMail(email)) throw badField('email', 'not_allowed', 'Give an address without such letters.');
  // Nobody waits for it: the time of an answer would tell whether the address is known.
  void mailLinks(deps, mailer, email, reader).catch(deps.onMailFailed);
  return { message: 'If this address is known here, a mail with a link is on its way.' };
}

async function mailLinks(deps: SignInDeps, mailer: Mailer, email: string, reader: Reader): Promise<void> {
  const since = new Date(deps.clock().getTime() - PROOF_MS);
  const hashes = hashesOf(deps, email);
  const people = await listPeopleAcrossTenants(deps.db, hashes, { since, most: MOST_LINKS });
  if (people.length === 0) return;
  const pause = await takePlace(deps, hashes, reader);
  if (!pause) return;
  const links: AccountLink[] = [];
  for (const person of people) {
    const developerName = await findDeveloperName(deps.db, person);
    links.push({ developerName, developerId: person.developerId, link: await newLink(deps, person, pause) });
  }
  await mailer
    .send({ to: email, ...signInMail(links, pageLanguage(reader.languages)) })
    .catch(async (error: unknown) => {
      await deps.store.freeSlot(pause); // so that who asks again gets one
      throw error;
    });
}

type Hashes = ReturnType<typeof hashesOf>;
type Pause = Pick<Slot, 'key' | 'owner'>;

/** Counts a mail to an address. @returns the pause after it, or undefined when no mail may go there now */
async function takePlace(
  { store, clock, keyRing }: SignInDeps,
  hashes: Hashes,
  { link, cookie }: Reader,
): Promise<Pause | undefined> {
  const address = hashes[0].toString('base64url');
  const owner = newId('psn', clock());
  const sent = link === undefined ? undefined : await findLink(store, link);
  const isReader =
    isReaderCookie({ keyRing, clock }, hashes, cookie) ||
    (sent !== undefined && hashes.some((each) => each.equals(Buffer.from(sent.addressHash, 'base64url'))));
  const who = isReader ? 'reader' : 'stranger';
  const place = { key: `bh:{principal-mail:${address}}:${who}`, owner };
  const pause = { key: `bh:{principal-mail:${address}}:pause`, owner };
  // The place before the pause: who may ask for no mail keeps nobody waiting.
  if (!(await store.takeSlot({ ...place, most: MOST_MAILS[who], seconds: DAY_SECONDS }))) return undefined;
  if (await store.takeSlot({ ...pause, most: 1, seconds: PAUSE_SECONDS })) return pause;
  await store.freeSlot(place);
  return undefined;
}

interface KeptLink {
  readonly developerId: string;
  readonly principalId: string;
  /** Of the address, in base64url. */
  readonly addressHash: string;
  /** In ISO 8601. The store keeps it for a day, in which it shows who has read the mail. */
  readonly expiresAt: string;
  /** Ends when the link is used. */
  readonly pause: Pause;
}

const linkKey = (token: string) => `bh:{principal-link:${hashOf(token).toString('base64url')}}`;

async function findLink(store: EphemeralStore, token: string): Promise<KeptLink | undefined> {
  const text = await store.get(linkKey(token));
  return text === undefined ? undefined : JSON.parse(text);
}

/** The token stands behind `#`: what opens links ahead of people sends nothing of it. */
async function newLink(
  deps: SignInDeps,
  { developerId, principalId, addressHash }: KnownPerson,
  pause: Pause,
): Promise<string> {
  const token = newSecret();
  const expiresAt = new Date(deps.clock().getTime() + LINK_SECONDS * 1000).toISOString();
  const kept: KeptLink = {
    ...{ developerId, principalId, expiresAt, pause },
    addressHash: addressHash.toString('base64url'),
  };
  await keep(deps.store, token, kept);
  return `${deps.publicBaseUrl}/permissions#link=${token}`;
}

const keep = (store: EphemeralStore, token: string, kept: KeptLink) =>
  store.put([{ key: linkKey(token), value: JSON.stringify(kept), seconds: DAY_SECONDS }]);

interface AccountLink {
  readonly developerName: string;
  readonly developerId: string;
  readonly link: string;
}

/** The texts of the mail with links. @public The check of the messages reads it. */
export const texts = {
  subject: 'Your link to what agents may do for you',
  button: 'Open your permissions',
  lead: 'Somebody asked for a link to the page on which you see, and end, what AI agents may do for you. If it was not you, do nothing.',
  account: 'The account: {account}',
  limits:
    'A link is good for 10 minutes, and once. Hand it on to nobody. For a day it also lets you ask for the next one, however often somebody else has asked.',
};

/** Begins with a sentence of the service, because developers choose the names. Of several accounts, none is its heading. */
export function signInMail(links: readonly AccountLink[], language: string): Omit<Mail, 'to'> {
  const say = sayIn(language);
  const named = links.map((each) => ({ ...each, account: nameInMail(each.developerName, each.developerId) }));
  const [only, ...others] = named;
  return {
    subject: say(texts.subject),
    button: say(texts.button),
    ...(only && others.length === 0 && { account: only.account }),
    text: `${say(texts.lead)}

${named.map(({ account, link }) => `${say(texts.account, { account })}\n\n    ${link}\n`).join('\n')}
${say(texts.limits)}
`,
    language,
  };
}

/**
 * Opens the page of the person to whom a link was mailed. A link opens it once.
 * @returns also the cookie of a browser whose person has read a mail at the address
 * @throws TOKEN_EXPIRED for an unknown, a used and an old link alike, and as `openOwnSession`
 */
export async function useSignInLink(
  deps: SignInDeps,
  token: string,
  browser: Pick<ShownPerson, 'requestId' | 'signOn'>,
): Promise<{ readonly opened: CreatedPrincipalSession; readonly cookie: string }> {
  const at = deps.clock();
  const kept = await findLink(deps.store, token);
  if (!kept || new Date(kept.expiresAt) <= at) throw linkOver();
  // Two uses of one link find one slot.
  const key = `${linkKey(token)}:taken`;
  const slot = { key, owner: newId('psn', at), most: 1, seconds: LINK_SECONDS };
  if (!(await deps.store.takeSlot(slot))) throw linkOver();
  const { developerId, principalId } = kept;
  const addressHash = Buffer.from(kept.addressHash, 'base64url');
  const tenant = { developerId };
  const person = { tenant, principalId, method: 'email', isMailed: true, ...browser } as const;
  const opened = await openOwnSession(deps, person, async (tx, _, { consentMode }) => {
    if (consentMode !== 'email') throw linkOver(); // a mailbox is no longer enough
    if (!(await isKnownAddress(tx, tenant, { principalId, addressHash }))) throw linkOver(); // withdrawn or replaced
    return [];
  }).catch(async (error: unknown) => {
    if (error instanceof AppError) await deps.store.freeSlot(slot); // the link opened nothing yet
    throw error;
  });
  await keep(deps.store, token, { ...kept, expiresAt: at.toISOString() });
  await deps.store.freeSlot(kept.pause);
  return { opened, cookie: readerCookie(deps, addressHash) };
}

const linkOver = () => new AppError('TOKEN_EXPIRED', 'This link is no longer valid. Ask for another link.');

/** The name of the cookie of readers. Browsers take `__Host-` over `https` only. */
export const readerCookieName = ({ publicBaseUrl }: Pick<SignInDeps, 'publicBaseUrl'>) =>
  `${publicBaseUrl.startsWith('https:') ? '__Host-' : ''}bh_reader`;

/** It opens nothing: it only asks for mails of readers, as long as a proof of the address counts. */
function readerCookie(deps: SignInDeps, addressHash: Buffer): string {
  const { keyRing, clock, publicBaseUrl } = deps;
  const until = String(clock().getTime() + PROOF_MS);
  const [mac = ''] = readerMacs({ keyRing }, addressHash, until);
  return stringifySetCookie({
    ...{ name: readerCookieName(deps), value: `${until}.${mac}`, path: '/', maxAge: PROOF_MS / 1000 },
    ...({ httpOnly: true, sameSite: 'strict', secure: publicBaseUrl.startsWith('https:') } as const),
  });
}

function isReaderCookie(
  { keyRing, clock }: Pick<SignInDeps, 'keyRing' | 'clock'>,
  hashes: Hashes,
  cookie = '',
): boolean {
  const [until = '', mac = ''] = cookie.split('.');
  if (!(Number(until) > clock().getTime())) return false;
  return hashes.some((hash) => readerMacs({ keyRing }, hash, until).some((each) => isSameText(each, mac)));
}

/** The newest key comes first. */
function readerMacs({ keyRing }: Pick<SignInDeps, 'keyRing'>, addressHash: Buffer, until: string): string[] {
  const { current, previous } = keyRing.derive(READER_KEY_USE);
  return [current, ...previous].map((key) =>
    createHmac('sha256', key).update(addressHash).update(until).digest('base64url'),
  );
}
