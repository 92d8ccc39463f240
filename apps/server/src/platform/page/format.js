/** @import { Forms, Part } from './types.js' */
import { element } from './dom.js';
import { language, words } from './words.js';

/** Dates and money follow the reader's settings, and on a page in another language than theirs that language. */
const own = new Intl.DateTimeFormat().resolvedOptions().locale;
const isOwn = own.split('-')[0] === language.split('-')[0];
export const locale = isOwn || language === 'en' ? own : language;
const lang = isOwn || language !== 'en' ? undefined : own;

const year = /** @type {const} */ ({ year: 'numeric' });
const clock = /** @type {const} */ ({ hour: 'numeric', minute: '2-digit', timeZoneName: 'short' });
const date = /** @type {const} */ ({ day: 'numeric', month: 'short' });
const weekday = /** @type {const} */ ({ weekday: 'short', ...date, ...year });

/**
 * A sentence with nodes in it. Each node is copied, because a sentence may name it twice.
 * @param {string} sentence
 * @param {Record<string, Part | Part[]>} values put in as they are
 */
export function fill(sentence, values) {
  const parts = sentence
    .split(/\{(\w+)\}/)
    .flatMap((piece, index) => (index % 2 ? (values[piece] ?? '') : piece));
  return parts.map((part) => (part instanceof Node ? part.cloneNode(true) : part));
}

/** @type {(sentence: string, values: Record<string, string | number>) => string} */
export const fillText = (sentence, values) => fill(sentence, values).join('');

/**
 * A sentence that counts something, in the form for the number, which takes the place of `{n}`.
 * @param {Forms} forms
 * @param {number} n
 * @param {Record<string, string>} [values]
 */
export const counted = (forms, n, values) =>
  fillText(forms[new Intl.PluralRules(language).select(n)] ?? forms.other, {
    n: n.toLocaleString(language),
    ...values,
  });

const UNITS = /** @type {const} */ ({ day: 86_400, hour: 3_600, minute: 60, second: 1 });

/** @param {string} text as on the wire, "24h"; any other text gives NaN */
export function secondsOf(text) {
  const [, count, letter] = /^(\d{1,10})([smhd])$/.exec(text) ?? [];
  const unit = Object.entries(UNITS).find(([noun]) => noun[0] === letter);
  return unit ? Number(count) * unit[1] : Number.NaN;
}

/**
 * Counts less than two days in hours, because many readers take a day to end at midnight.
 * @param {number} seconds
 */
export function duration(seconds) {
  let rest = seconds;
  const parts = Object.entries(UNITS).flatMap(([unit, size]) => {
    const count = unit === 'day' && rest < 2 * size ? 0 : Math.floor(rest / size);
    rest -= count * size;
    return count > 0
      ? new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count)
      : [];
  });
  return parts.join(' ');
}

/** @param {{ amount: string, currency: string }} limit */
export function money({ amount, currency }) {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency, maximumFractionDigits: 9 });
  // As text, because a number cannot hold every amount exactly.
  return element('strong', { lang }, format.format(/** @type {`${number}`} */ (amount)));
}

/** @type {(time: Date, now: Date) => number} */
const daysUntil = (time, now) =>
  Math.round((new Date(time).setHours(0, 0, 0, 0) - new Date(now).setHours(0, 0, 0, 0)) / 86_400_000);

/** @type {(time: Date, parts: Intl.DateTimeFormatOptions) => HTMLElement} */
const timeElement = (time, parts) =>
  element(
    'time',
    { datetime: time.toISOString(), lang },
    new Intl.DateTimeFormat(locale, parts).format(time),
  );

/**
 * @param {Date} time
 * @param {Date} now
 */
export function moment(time, now) {
  const sentence = [words.today, words.tomorrow][daysUntil(time, now)];
  const text = timeElement(time, sentence ? clock : { ...weekday, ...clock });
  return fill(sentence ?? '{time}', { time: text });
}

/**
 * A moment in few words, for a line that has the exact time beside it.
 * @param {Date} time
 * @param {Date} now
 */
export function day(time, now) {
  if (daysUntil(time, now) === 0) return timeElement(time, clock);
  return timeElement(time, time.getFullYear() === now.getFullYear() ? date : { ...date, ...year });
}
