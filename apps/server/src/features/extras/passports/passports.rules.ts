import { writeAmount } from '@behest/protocol/amounts';
import { compareDecimals } from '@behest/protocol/decimals';
import { covers } from '@behest/protocol/scopes';

const DECIMAL = /^(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,6})?$/;
const SAFE_DIGITS = 15; // every reader of JSON reads a number of so many digits alike

/** @returns the decimal; undefined for zero, a sign, an exponent, and more than six decimals */
export function readLimit(amount: number | string): string | undefined {
  const text = String(amount);
  if (!DECIMAL.test(text) || compareDecimals(text, '0') === 0) return undefined;
  if (typeof amount === 'number' && text.replace('.', '').length > SAFE_DIGITS) return undefined;
  return text;
}

const needed = (category: string) => `payments:mpp:${category}`;

/** The scopes that a grant lacks for these categories. */
export const missingScopes = (scopes: readonly string[], categories: readonly string[]): string[] =>
  categories.map(needed).filter((scope) => !scopes.some((held) => covers(held, scope)));

export interface Limit {
  readonly amount: string;
  readonly currency: string;
}

/** The rest of a budget, in billionths. */
interface Rest {
  readonly remaining: string;
  readonly currency: string;
}

/** Why a payment of this size may not be made. A grant with a budget has no money in another currency. */
export function beyondBudget({ amount, currency }: Limit, rest: Rest | undefined) {
  if (!rest) return undefined;
  if (rest.currency !== currency) return 'currency_mismatch';
  return compareDecimals(amount, writeAmount(rest.remaining)) > 0 ? 'insufficient' : undefined;
}

/** A passport as far as another may be a part of it. */
export interface Extent extends Limit {
  readonly categories: readonly string[];
  readonly expiresAt: Date;
}

/** The first respect in which a passport is more than its parent. */
export function beyondParent(
  parent: Extent,
  child: Extent,
): 'categories' | 'amount' | 'lifetime' | undefined {
  if (!child.categories.every((category) => parent.categories.includes(category))) return 'categories';
  if (child.currency !== parent.currency || compareDecimals(child.amount, parent.amount) > 0) return 'amount';
  return child.expiresAt > parent.expiresAt ? 'lifetime' : undefined;
}

const PASSPORT = /^urn:behest:passport:([0-9A-HJKMNP-TV-Z]{26})$/;

/** The id of the credential that a passport is. */
export const credentialIdOf = (passportId: string): string | undefined => {
  const [, ulid] = PASSPORT.exec(passportId) ?? [];
  return ulid && `vc_${ulid}`;
};
