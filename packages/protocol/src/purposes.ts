import { namedConnectors } from './tool-scopes.ts';

/** The vocabulary. @see the interface specification, `POST /v1/authorize` */
export const purposes = [
  'aml.cdd.onboarding',
  'aml.cdd.ongoing',
  'aml.screening',
  'procurement.vendor_onboarding',
  'payments.payout',
] as const;
export type Purpose = (typeof purposes)[number];

/** `x-<org>.<term>`, the term of one or more segments: what an organisation has named for itself. */
const PRIVATE_PURPOSE = /^x-[a-z0-9]+(?:-[a-z0-9]+)*(?:[.][a-z][a-z0-9_]*)+$/;

/** Whether a grant may be bound to the purpose: it is in the vocabulary or a private term. */
export function isPurpose(text: string): boolean {
  return isKnownPurpose(text) || (text.length <= 128 && PRIVATE_PURPOSE.test(text));
}

export function isKnownPurpose(text: string): text is Purpose {
  return purposes.some((purpose) => purpose === text);
}

/**
 * Whether these scopes may have a purpose at all. It binds tool calls, so one scope at least has to be a
 * tool scope that names its connector; `*` names none.
 */
export function canHavePurpose(scopes: readonly string[]): boolean {
  return namedConnectors(scopes).length > 0;
}
