/**
 * @typedef {{ path: string[], pointer: string, text: string }} Row a value of the call: the names that lead to it, its JSON
 *   Pointer (RFC 6901), and its JSON
 * @typedef {Row & { change?: 'new' | 'changed', before?: string }} ComparedRow
 */

const TOKENS = /"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{}[\],:]|[^"{}[\],:]+/g;

/**
 * The lines of canonical JSON, one member each, in the order of the text that is hashed. Parsing would reorder members
 * whose names are numbers. Nothing is left out, and each text stays on its line.
 * @param {string} canonical
 */
export function linesOf(canonical) {
  const lines = [''];
  let depth = 0;
  const breakLine = () => lines.push('  '.repeat(depth));
  for (const token of canonical.match(TOKENS) ?? []) {
    if (token === '}' || token === ']') {
      depth -= 1;
      breakLine();
    }
    lines.push(`${lines.pop()}${token === ':' ? ': ' : token}`);
    if (token === '{' || token === '[') depth += 1;
    if (token === '{' || token === '[' || token === ',') breakLine();
  }
  return lines;
}

/**
 * Every value of the arguments, in the order of canonical JSON (RFC 8785). Nothing is left out.
 * @param {unknown} value
 * @param {Pick<Row, 'path' | 'pointer'>} [above]
 * @returns {Row[]}
 */
export function rowsOf(value, { path, pointer } = { path: [], pointer: '' }) {
  const isBranch = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (!isBranch) return path.length === 0 ? [] : [{ path, pointer, text: JSON.stringify(value) }];
  return Object.keys(value)
    .sort(Array.isArray(value) ? byNumber : undefined) // without a rule, by code units
    .flatMap((name) => {
      const label = Array.isArray(value) ? `#${Number(name) + 1}` : labelOf(name);
      const below = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      return rowsOf(Reflect.get(value, name), { path: [...path, label], pointer: below });
    });
}

const byNumber = (/** @type {string} */ one, /** @type {string} */ other) => Number(one) - Number(other);

/**
 * Tells whether the approval binds a row, or whether the value may be another one when the call is made: the nearest part
 * says it, which is looked up by the names that lead to the row, because a call may have thousands of both.
 * @param {{ path: string, binds: boolean }[]} parts
 * @returns {(row: Pick<Row, 'pointer'>) => boolean}
 */
export function boundBy(parts) {
  const saidOf = new Map(parts.map(({ path, binds }) => [path, binds]));
  return ({ pointer }) => {
    let above = pointer;
    while (above !== '' && !saidOf.has(above)) above = above.slice(0, above.lastIndexOf('/'));
    return saidOf.get(above) ?? true;
  };
}

/** Letters of two scripts that have the same look. */
const LATIN = /\p{Script=Latin}/u;
const LIKE_LATIN = /[\p{Script=Cyrillic}\p{Script=Greek}]/u;

/**
 * A name as it is, or in quotation marks where it could be taken for something else.
 * @param {string} name
 */
function labelOf(name) {
  if (LATIN.test(name) && LIKE_LATIN.test(name)) {
    return JSON.stringify(name).replaceAll(
      /[^ -~]/g,
      (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  }
  const isPlain = /^[\p{L}\p{N}_]([\p{L}\p{N}_. -]*[\p{L}\p{N}_.-])?$/u.test(name) && !name.includes('  ');
  return isPlain ? name : JSON.stringify(name);
}

/**
 * A value as a person reads it. Only texts that could be taken for another kind of value, or whose ends would not be
 * seen, are in quotation marks, so no two values look the same.
 * @param {string} text JSON
 */
export function readable(text) {
  if (!text.startsWith('"')) return text;
  const value = /** @type {string} */ (JSON.parse(text));
  const isPlain =
    value !== '' &&
    value === value.trim() &&
    !/^["“{[]|^-?\d+(\.\d+)?(e[+-]?\d+)?$|^(true|false|null)$/i.test(value);
  return isPlain ? value : `“${value}”`;
}

/**
 * The rows of a call beside those of an earlier one.
 * @param {Row[]} before
 * @param {Row[]} now
 * @returns {{ rows: ComparedRow[], gone: Row[] }}
 */
export function compareRows(before, now) {
  const key = (/** @type {Row} */ { pointer }) => pointer;
  const old = new Map(before.map((row) => [key(row), row.text]));
  const rows = now.map((row) => {
    const text = old.get(key(row));
    if (text === row.text) return row;
    return text === undefined
      ? { ...row, change: /** @type {const} */ ('new') }
      : { ...row, change: /** @type {const} */ ('changed'), before: text };
  });
  const kept = new Set(now.map(key));
  return { rows, gone: before.filter((row) => !kept.has(key(row))) };
}

const CURRENCY = /^[A-Z]{3}$/;
const AMOUNT = /^(0|[1-9]\d{0,17})(\.\d{1,18})?$/;
const RECEIVERS = new Set(['to', 'recipient', 'payee', 'beneficiary', 'creditor']);
const MAY_BE_MONEY = /amount|total|sum|price|value|fee|cost/i;

/**
 * The money of a call, and to whom it goes: an `amount` beside a `currency` at the top or one level below, and a name under
 * the one member for the receiver. A call with anything else that may be money has no headline, so that none is smaller
 * than what is paid. The digits are those of the call, because the call does not say in which unit they are.
 * @param {Row[]} rows the arguments
 * @param {string} [locale] in which the number is written
 * @returns {{ amount: string, currency: string, receiver: string | undefined } | undefined}
 */
export function moneyOf(rows, locale) {
  const textAt = (/** @type {string} */ pointer) => {
    const row = rows.find((each) => each.pointer === pointer);
    return row && (row.text.startsWith('"') ? String(JSON.parse(row.text)) : row.text);
  };
  const [sum, ...others] = rows.filter(({ path }) => path.some((name) => MAY_BE_MONEY.test(name)));
  const isSum =
    sum && others.length === 0 && /^(\/[^/#]+)?\/amount$/.test(sum.pointer) && !sum.path[0]?.startsWith('#');
  if (!isSum) return undefined;
  const amount = textAt(sum.pointer) ?? '';
  const currency = textAt(sum.pointer.replace(/amount$/, 'currency')) ?? '';
  if (!AMOUNT.test(amount) || !CURRENCY.test(currency)) return undefined;
  const receivers = new Set(
    rows
      .map(({ pointer }) => pointer.split('/')[1] ?? '')
      .filter((name) => RECEIVERS.has(name.toLowerCase())),
  );
  const [receiver] = receivers;
  const name =
    receiver && receivers.size === 1 ? (textAt(`/${receiver}`) ?? textAt(`/${receiver}/name`)) : undefined;
  return { amount: grouped(amount, locale), currency, receiver: name };
}

/**
 * Whether a number that reads like money has no currency beside it.
 * @param {Row} row
 * @param {Row[]} rows all of the call
 */
export function lacksCurrency({ pointer, path }, rows) {
  if (!(path.at(-1) ?? '').toLowerCase().endsWith('amount')) return false;
  const beside = `${pointer.slice(0, pointer.lastIndexOf('/'))}/currency`;
  return !rows.some((row) => row.pointer.toLowerCase() === beside.toLowerCase());
}

/** A call with more values has no headline: what somebody has to read on the page is not summed up in one line. */
const MOST_ROWS = 200;

/**
 * The headline of a call, on the page and in the notices that lead to it: its money, as far as the approval binds it.
 * @param {unknown} args
 * @param {{ path: string, binds: boolean }[]} parts
 * @param {string} [locale]
 */
export const headlineOf = (args, parts, locale) =>
  isLong(args) ? undefined : moneyOf(rowsOf(args).filter(boundBy(parts)), locale);

/**
 * Looks at no more than it needs, because the service asks it for each notice.
 * @param {unknown} args
 */
function isLong(args) {
  const open = [args]; // each has a row at least
  let rows = 0;
  while (open.length > 0 && rows + open.length <= MOST_ROWS) {
    const value = open.pop();
    const below = typeof value === 'object' && value !== null ? Object.values(value) : [];
    if (below.length === 0) rows += 1;
    else for (const each of below) open.push(each);
  }
  return rows + open.length > MOST_ROWS;
}

/** @param {string} amount */
function grouped(amount, locale = 'en') {
  const [whole = '', fraction] = amount.split('.');
  const digits = BigInt(whole).toLocaleString(locale);
  return fraction === undefined ? digits : `${digits}${markIn(locale)}${digitsIn(locale, fraction)}`;
}

/** @param {string} locale */
const markIn = (locale) =>
  new Intl.NumberFormat(locale).formatToParts(0.5).find(({ type }) => type === 'decimal')?.value;

/** Some languages have digits of their own. @type {(locale: string, digits: string) => string} */
const digitsIn = (locale, digits) =>
  [...digits].map((digit) => Number(digit).toLocaleString(locale)).join('');
