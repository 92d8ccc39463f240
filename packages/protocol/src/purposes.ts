import { namedConnectors } from './tool-scopes.ts';

/** The purposes that every developer may use. */
export const purposes = [
  'aml.cdd.onboarding',
  'aml.cdd.ongoing',
  'aml.screening',
  'procurement.vendor_onboarding',
  'payments.payout',
] as const;
/** A purpose of the vocabulary. */
export type Purpose = (typeof purposes)[number];

/** A private purpose of an organisation: `x-<org>.<term>`, where the term has one or more segments. */
const PRIVATE_PURPOSE = /^x-[a-z0-9]+(?:-[a-z0-9]+)*(?:[.][a-z][a-z0-9_]*)+$/;

/**
 * Tells whether a grant may be bound to a purpose: the purpose is in the vocabulary, or private to an organisation.
 *
 * @example
 * ```ts
 * isPurpose('payments.payout'); // true
 * isPurpose('x-acme.claims.review'); // true
 * isPurpose('anything'); // false
 * ```
 */
export function isPurpose(text: string): boolean {
  return isKnownPurpose(text) || (text.length <= 128 && PRIVATE_PURPOSE.test(text));
}

/** Tells whether a purpose is in the vocabulary. */
export function isKnownPurpose(text: string): text is Purpose {
  return purposes.some((purpose) => purpose === text);
}

/**
 * Tells whether a grant of these scopes may have a purpose. A purpose binds tool calls, so at least one scope has to
 * be a tool scope with the name of a connector; `*` is no name.
 */
export function canHavePurpose(scopes: readonly string[]): boolean {
  return namedConnectors(scopes).length > 0;
}
