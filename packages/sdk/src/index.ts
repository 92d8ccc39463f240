export { ManifestValidationError } from '@behest/protocol/manifest/manifest-error';
export { type AdminOptions, BehestAdmin } from './admin.ts';
export type { CallOptions, List, ProofKey } from './api/rows.ts';
export type * from './api/types.gen.ts';
export { Behest } from './behest.ts';
export {
  BehestApiError,
  BehestAuthError,
  BehestConflictError,
  BehestNotFoundError,
  BehestRateLimitError,
  BehestTimeoutError,
  BehestValidationError,
  type RateLimit,
} from './client/api-errors.ts';
export type { Calls, ThroughVault, Wanted } from './client/calls.ts';
export type { CallToApprove, Decision, Waiting } from './client/decisions.ts';
export type { ScimCalls } from './client/extras.ts';
export type {
  BehestEvent,
  Gap,
  StreamOptions,
  SubscribeOptions,
  Subscription,
} from './client/live-events.ts';
export type {
  BackchannelAuthentication,
  BackchannelForm,
  DeviceAuthorization,
  DeviceForm,
  ExchangeForm,
  Introspection,
  OAuthClientForm,
  OAuthEndpoints,
  OAuthMetadata,
  OAuthTokens,
  PushForm,
  TokenAboutForm,
  TokenForm,
} from './client/oauth.ts';
export type { BehestOptions, CallingOptions } from './client/options.ts';
export type { Answered } from './client/refusals.ts';
export type { CallLine } from './client/transport.ts';
export type { WrappedCall } from './client/wrapped-tool.ts';
export { createDpopKey, type DpopKey } from './dpop.ts';
export { BehestDeniedError, BehestError, BehestNetworkError, BehestTokenError } from './errors.ts';
export { generatePkce, type Pkce, pkceChallenge } from './pkce.ts';
export type { VerifiedGrant } from './verify/verified-grant.ts';
export { BehestWebhookError, constructEvent, verifyWebhook, verifyWebhookSignature } from './webhooks.ts';
