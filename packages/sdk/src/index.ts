export { Behest, type WrappedCall } from './behest.ts';
export type { CallToApprove, Decision, Waiting } from './client/decisions.ts';
export type { BehestOptions } from './client/options.ts';
export { BehestDeniedError, BehestError, BehestNetworkError, BehestTokenError } from './errors.ts';
export type { VerifiedGrant } from './verify/verified-grant.ts';
