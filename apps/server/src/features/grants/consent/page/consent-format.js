/** @import { Cap } from './types.js' */
import { element } from '../../../../platform/page/dom.js';
import { fillText, lang, locale } from '../../../../platform/page/format.js';
import { language } from '../../../../platform/page/words.js';
import { words } from './consent-words.js';

/** @param {{ amount: string, currency: string }} limit */
export function money({ amount, currency }) {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency, maximumFractionDigits: 9 });
  // As text, because a number cannot hold every amount exactly.
  return element('strong', { lang }, format.format(/** @type {`${number}`} */ (amount)));
}

/** @param {Cap} cap */
export function capText(cap) {
  const { windows, never, atMost, limit } = words.tools;
  const set = Object.entries(windows).map(([key, window]) => ({
    window,
    count: cap[/** @type {keyof Cap} */ (key)],
  }));
  const zeros = set.filter(({ count }) => count === 0);
  const parts = (zeros.length > 0 ? zeros : set).flatMap(({ window, count }) =>
    count === undefined ? [] : fillText(limit, { window, count: count.toLocaleString(language) }),
  );
  return fillText(zeros.length > 0 ? never : atMost, { limits: parts.join(', ') });
}
