import type { Feature } from './feature.ts';
import { agents } from './features/accounts/agents/agents.feature.ts';
import { changes } from './features/accounts/changes/changes.feature.ts';
import { developers } from './features/accounts/developers/developers.feature.ts';
import { domains } from './features/accounts/domains/domains.feature.ts';
import { emails } from './features/accounts/emails/emails.feature.ts';
import { insights } from './features/accounts/insights/insights.feature.ts';
import { members } from './features/accounts/members/members.feature.ts';
import { quotas } from './features/accounts/quotas/quotas.feature.ts';
import { requests } from './features/accounts/requests/requests.feature.ts';
import { usage } from './features/accounts/usage/usage.feature.ts';
import { anomalies } from './features/calls/anomalies/anomalies.feature.ts';
import { approvers } from './features/calls/approvers/approvers.feature.ts';
import { authzen } from './features/calls/authzen/authzen.feature.ts';
import { caps } from './features/calls/caps/caps.feature.ts';
import { decisions } from './features/calls/decisions/decisions.feature.ts';
import { enforcement } from './features/calls/enforcement/enforcement.feature.ts';
import { explanations } from './features/calls/explanations/explanations.feature.ts';
import { billing } from './features/extras/billing/billing.feature.ts';
import { bundles } from './features/extras/bundles/bundles.feature.ts';
import { compliance } from './features/extras/compliance/compliance.feature.ts';
import { dids } from './features/extras/dids/dids.feature.ts';
import { passports } from './features/extras/passports/passports.feature.ts';
import { transmitter } from './features/extras/transmitter/transmitter.feature.ts';
import { verifiableCredentials } from './features/extras/verifiable-credentials/verifiable-credentials.feature.ts';
import { walletAuthorizations } from './features/extras/wallet-authorizations/wallet-authorizations.feature.ts';
import { authorization } from './features/grants/authorization/authorization.feature.ts';
import { budgets } from './features/grants/budgets/budgets.feature.ts';
import { consent } from './features/grants/consent/consent.feature.ts';
import { grants } from './features/grants/grants/grants.feature.ts';
import { manifests } from './features/grants/manifests/manifests.feature.ts';
import { policies } from './features/grants/policies/policies.feature.ts';
import { resources } from './features/grants/resources/resources.feature.ts';
import { tokens } from './features/grants/tokens/tokens.feature.ts';
import { verifiers } from './features/grants/verifiers/verifiers.feature.ts';
import { assertions } from './features/oauth/assertions/assertions.feature.ts';
import { oauth } from './features/oauth/oauth/oauth.feature.ts';
import { workloads } from './features/oauth/workloads/workloads.feature.ts';
import { offboarding } from './features/people/offboarding/offboarding.feature.ts';
import { passkeys } from './features/people/passkeys/passkeys.feature.ts';
import { principals } from './features/people/principals/principals.feature.ts';
import { scim } from './features/people/scim/scim.feature.ts';
import { setup } from './features/people/setup/setup.feature.ts';
import { signals } from './features/people/signals/signals.feature.ts';
import { sso } from './features/people/sso/sso.feature.ts';
import { audit } from './features/record/audit/audit.feature.ts';
import { erasures } from './features/record/erasures/erasures.feature.ts';
import { events } from './features/record/events/events.feature.ts';
import { catalogueOf } from './features/record/events/index.ts';
import { receipts } from './features/record/receipts/receipts.feature.ts';
import { search } from './features/record/search/search.feature.ts';
import { transparency } from './features/record/transparency/transparency.feature.ts';
import { webhooks } from './features/record/webhooks/webhooks.feature.ts';
import { consoleSite } from './features/service/console/console.feature.ts';
import { keys } from './features/service/keys/keys.feature.ts';
import { operations } from './features/service/operations/operations.feature.ts';
import { operator } from './features/service/operator/operator.feature.ts';
import { connections } from './features/vault/connections/connections.feature.ts';
import { credentials } from './features/vault/credentials/credentials.feature.ts';
import { providers } from './features/vault/providers/providers.feature.ts';
import { proxy } from './features/vault/proxy/proxy.feature.ts';
import { FINGERPRINT_KEY_USE, IDEMPOTENCY_KEY_USE } from './platform/http/idempotency/idempotency.ts';
import { generalRates } from './platform/http/limits/rate-rules.ts';
import type { QuotaDeclarations } from './platform/quotas.ts';
import type { Tally } from './platform/telemetry/meter.ts';
import type { DeclaredMetrics } from './platform/telemetry/metrics.ts';

/**
 * Every feature of the product. A feature imports only those above it (scripts/imports.ts). Routes are mounted, rows
 * prepared, and hooks called in this order too: where a transaction locks rows of several features, parents come
 * before children.
 */
export const features: readonly Feature[] = [
  operations,
  consoleSite,
  operator,
  keys,
  quotas,
  usage,
  requests,
  insights,
  events,
  audit,
  transparency,
  developers,
  emails,
  domains,
  agents,
  scim,
  providers,
  sso,
  dids,
  manifests,
  resources,
  verifiers,
  grants,
  policies,
  authorization,
  credentials,
  budgets,
  principals,
  passkeys,
  verifiableCredentials,
  consent,
  connections,
  walletAuthorizations,
  workloads,
  bundles,
  tokens,
  passports,
  billing,
  caps,
  enforcement,
  explanations,
  authzen,
  assertions,
  setup,
  webhooks,
  transmitter,
  oauth,
  signals,
  compliance,
  approvers,
  members,
  changes,
  decisions,
  proxy,
  offboarding,
  erasures,
  receipts,
  anomalies,
  search,
];

/** The rules of all routes, each typed once where its feature declares it. */
export const limits = {
  rates: [...Object.values(generalRates), ...features.flatMap(({ rates = {} }) => Object.values(rates))],
  quotas: Object.assign({}, ...features.map((feature) => feature.quotas)) as QuotaDeclarations,
};

/** Everything that the service records and announces. */
export const catalogue = catalogueOf(features.map(({ acts = {} }) => acts));

/** The labels of all derived keys. */
export const keyUses = [
  IDEMPOTENCY_KEY_USE,
  FINGERPRINT_KEY_USE,
  ...features.flatMap((feature) => feature.keyUses ?? []),
];

/** The metrics that features declare. */
export const declaredMetrics: DeclaredMetrics = Object.assign({}, ...features.map(({ metrics }) => metrics));

/** The series that show zero until their first event, because operators are woken by the first. */
export const watchedTallies: readonly Tally[] = features.flatMap(({ attempts = [], acts = {} }) =>
  attempts.flatMap((label) => [
    { counter: 'blockedAttempts', label },
    ...(acts[label]?.isEvent ? [{ counter: 'acts', label } as const] : []),
  ]),
);
