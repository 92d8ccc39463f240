import { sayIn } from '../../../platform/languages.ts';
// @ts-expect-error A script of the pages has its types in comments, which the check of the pages reads.
import * as page from '../../../platform/page/dom.js';

const MOST = 60; // code points of a name
const UNSEEN = /\p{Default_Ignorable_Code_Point}|\p{Cf}|(?!\s)\p{Cc}/gu;

/** A letter or digit with its marks, as a mail program may find it in the name of a host. */
const SIGN = '\\p{L}\\p{N}\\p{M}\\p{Extended_Pictographic}';
const DOT = '.\u3002\uff0e\uff61';
/** What a mail program or a chat makes a link of: paths of hosts, schemes, the middle of a link of Markdown, hosts. */
const ADDRESS = new RegExp(
  [
    '//|:/|\\\\\\\\|www\\.|@|\\]\\(',
    '(?:https?|ftp|file|mailto|tel|sms|javascript|data):\\S',
    `[-_${SIGN}][${DOT}][${SIGN}]`,
  ].join('|'),
  'iu',
);

/**
 * A name that a developer chose, for a text in the service's name, be it a mail or a message of a channel: one line, cut, and without any word that a mail
 * program could make a link of. Compatibility forms and characters without a width of their own hide no address.
 * @param id stands in place of a name of which nothing is left
 */
export function nameInMail(name: string, id: string): string {
  const words = name
    .replace(UNSEEN, '')
    .split(/\s+/u)
    .filter((word) => word !== '' && !ADDRESS.test(word) && !ADDRESS.test(word.normalize('NFKC')));
  return words.length === 0 ? id : cut(words.join(' '));
}

function cut(text: string): string {
  const points = [...text];
  return points.length > MOST ? `${points.slice(0, MOST - 1).join('')}…` : text;
}

/**
 * A value of a call for the same texts. It loses nothing but its end: characters that nobody would see are there as their numbers, as on
 * the page.
 * @returns undefined where a mail program could make a link of a part
 */
export function valueInMail(value: string): string | undefined {
  const seen = value.replace(UNSEEN, '');
  if (ADDRESS.test(seen) || ADDRESS.test(seen.normalize('NFKC'))) return undefined;
  const shown: readonly string[] = page.showUnseen(value, (number: string) => `[${number}]`);
  return cut(shown.join(''));
}

/** @see https://docs.slack.dev/messaging/formatting-message-text, "Escaping text" */
export const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('|', '¦');

/** The texts of the mail that verifies an address. @public The check of the messages reads it. */
export const texts = {
  subject: 'Verify your address',
  button: 'Verify this address',
  lead: 'An account of Behest asks to verify that it receives mail at this address: {account}.',
  open: 'If you asked for this, open the link within 24 hours and press the button:',
  else: 'If you did not ask for it, do nothing. Nobody can use this address without the link.',
};

/** Names the account by its id, because anybody may sign up under any name. */
export const verificationMail = (link: string, developerId: string, language: string) => {
  const say = sayIn(language);
  return {
    subject: say(texts.subject),
    button: say(texts.button),
    text: `${say(texts.lead, { account: developerId })}

${say(texts.open)}

    ${link}

${say(texts.else)}
`,
    language,
  };
};
