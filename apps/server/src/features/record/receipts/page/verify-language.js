import { texts } from '../page-texts.ts';

/** The name of each language in itself. */
export const languages = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  ja: '日本語',
  'pt-BR': 'Português (Brasil)',
};

/** @type {Record<string, Record<string, string>>} by language, from English; the build puts them into the page */
const messages = JSON.parse(document.getElementById('messages')?.textContent || '{}');

/** @param {string} tag */
const known = (tag) =>
  Object.keys(languages).find((each) => each === tag) ??
  Object.keys(languages).find((each) => each.split('-')[0] === tag.split('-')[0]);

let chosen = navigator.languages.map(known).find((tag) => tag !== undefined) ?? 'en';

export const chosenLanguage = () => chosen;

/** @param {string} tag */
export function setLanguage(tag) {
  chosen = tag;
}

/**
 * The sentences in the chosen language.
 * @returns {typeof texts}
 */
export const words = () =>
  JSON.parse(
    JSON.stringify(texts),
    (_name, each) => (typeof each === 'string' && messages[chosen]?.[each]) || each,
  );

/** Not from `navigator.languages`, which on some systems has tags that are none, such as `en-US@posix`. */
const own = new Intl.DateTimeFormat().resolvedOptions().locale;

/** Dates follow the reader's settings where their language is the chosen one. */
const locale = () => (known(own) === chosen ? own : chosen);

/** @param {string} text RFC 3339 */
export function time(text) {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return element('span', text);
  const parts = /** @type {const} */ ({ dateStyle: 'medium', timeStyle: 'short' });
  const node = element('time', new Intl.DateTimeFormat(locale(), parts).format(at));
  node.setAttribute('datetime', at.toISOString());
  return node;
}

/**
 * @param {'span' | 'time'} tag
 * @param {string} text
 */
function element(tag, text) {
  const node = document.createElement(tag);
  node.textContent = text;
  return node;
}

/**
 * A sentence with nodes in place of its names in braces.
 * @param {string} sentence
 * @param {Record<string, Node | string>} values
 */
export const fill = (sentence, values) =>
  sentence.split(/\{(\w+)\}/).map((piece, index) => (index % 2 ? (values[piece] ?? '') : piece));

const UNITS = /** @type {const} */ ({ s: 'second', m: 'minute', h: 'hour', d: 'day' });

/** @param {unknown} text as in a grant, "24h" */
export function duration(text) {
  const [, count, letter = ''] = /^(\d{1,10})([smhd])$/.exec(String(text)) ?? [];
  const unit = UNITS[/** @type {keyof typeof UNITS} */ (letter)];
  if (unit === undefined) return String(text);
  return new Intl.NumberFormat(chosen, { style: 'unit', unit, unitDisplay: 'long' }).format(Number(count));
}
