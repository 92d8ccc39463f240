/** @import { Message } from './types.js' */

/** Longer than this, nobody waits for another language. */
const MESSAGES_WITHIN_MILLISECONDS = 10_000;

const chosen = globalThis.document?.documentElement.lang ?? 'en'; // tests read parts of pages without a document
/** @type {Record<string, Message> | undefined} */
const messages = chosen === 'en' ? {} : await messagesIn(chosen);

/** The language that the page speaks. */
export const language = messages ? chosen : 'en';

/**
 * The messages of a language, from English. Without them the page is English, and says so to screen readers.
 * @param {string} tag
 */
async function messagesIn(tag) {
  try {
    const signal = AbortSignal.timeout(MESSAGES_WITHIN_MILLISECONDS);
    const answer = await fetch(`/platform/page/${tag}.json`, { signal });
    if (answer.ok) return await answer.json();
  } catch {
    // There is no network. The page itself says what that means.
  }
  document.documentElement.lang = 'en';
  return undefined;
}

/**
 * Puts each sentence of a page into the page's language. Their names in braces are the same in every language. The forms of
 * a sentence that counts give way to those of the language: the message of the form `other` has all of them.
 * @template Words
 * @param {Words} words in English, which is the key to every message
 * @returns {Words}
 */
export function translated(words) {
  if (language === 'en') return words;
  return JSON.parse(JSON.stringify(words), (_name, each) =>
    typeof each?.other === 'object' ? each.other : (messages?.[each] ?? each),
  );
}

/** Every sentence that pages share. The page puts a node in place of each name in braces. */
export const words = translated({
  today: 'today at {time}',
  tomorrow: 'tomorrow at {time}',
  tryAgain: 'Try again',
  canTryAgain: 'You can try again now.',
  noteTitle: '{title}.',
  limits: {
    onlyIf: 'With {tool}, only if:',
    argument: '{path}: {text}',
    nothingElse: 'Nothing else may be passed on.',
    anythingElse: 'Careful: anything else may be passed on.',
  },
  support: 'For support: {id}',
});
