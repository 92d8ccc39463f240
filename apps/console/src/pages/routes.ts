import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { address, count, oneOf, text, time } from '../parts/address.ts';
import { shellRoute } from '../shell/root.tsx';

const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./overview/overview.tsx'), 'Overview'),
});

const tourRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tour',
  component: lazyRouteComponent(() => import('./tour/tour.tsx'), 'Tour'),
});

export const agentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents',
  validateSearch: address({ status: oneOf('active', 'suspended', 'revoked'), cursor: text }),
  component: lazyRouteComponent(() => import('./agents/agents.tsx'), 'Agents'),
});

export const agentRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents/$agentId',
  component: lazyRouteComponent(() => import('./agents/agent.tsx'), 'Agent'),
});

export const grantsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/grants',
  validateSearch: address({
    status: oneOf('active', 'revoked', 'expired'),
    agentId: text,
    principalId: text,
    purpose: text,
    cursor: text,
  }),
  component: lazyRouteComponent(() => import('./grants/grants.tsx'), 'Grants'),
});

export const grantRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/grants/$grantId',
  component: lazyRouteComponent(() => import('./grants/grant.tsx'), 'Grant'),
});

export const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  validateSearch: address({ cursor: text }),
  component: lazyRouteComponent(() => import('./account/keys.tsx'), 'Keys'),
});

export const usageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/usage',
  validateSearch: address({ by: oneOf('agent') }),
  component: lazyRouteComponent(() => import('./account/usage.tsx'), 'Usage'),
});

const settingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./account/settings.tsx'), 'Settings'),
});

export const membersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/members',
  validateSearch: address({ cursor: text }),
  component: lazyRouteComponent(() => import('./members/members.tsx'), 'Members'),
});

export const changesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/changes',
  validateSearch: address({ cursor: text }),
  component: lazyRouteComponent(() => import('./changes/changes.tsx'), 'Changes'),
});

export const requestsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/requests',
  validateSearch: address({
    status: oneOf('pending', 'approved', 'denied', 'cancelled', 'consumed', 'expired'),
    agentId: text,
    principalId: text,
    cursor: text,
  }),
  component: lazyRouteComponent(() => import('./requests/requests.tsx'), 'Requests'),
});

export const peopleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/people',
  validateSearch: address({ query: text, cursor: text }),
  component: lazyRouteComponent(() => import('./people/people.tsx'), 'People'),
});

export const personRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/people/$principalId',
  component: lazyRouteComponent(() => import('./people/person.tsx'), 'Person'),
});

export const policiesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/policies',
  validateSearch: address({ cursor: text }),
  component: lazyRouteComponent(() => import('./policies/policies.tsx'), 'Policies'),
});

export const newPolicyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/policies/new',
  validateSearch: address({ template: oneOf('night', 'deletes'), view: oneOf('json') }),
  component: lazyRouteComponent(() => import('./policies/new-policy.tsx'), 'NewPolicy'),
});

export const policyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/policies/$policyId',
  validateSearch: address({ view: oneOf('json'), version: count }),
  component: lazyRouteComponent(() => import('./policies/policy.tsx'), 'Policy'),
});

export const manifestsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/manifests',
  validateSearch: address({ cursor: text }),
  component: lazyRouteComponent(() => import('./manifests/manifests.tsx'), 'Manifests'),
});

export const manifestRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/manifests/$connector',
  validateSearch: address({ version: count }),
  component: lazyRouteComponent(() => import('./manifests/manifest.tsx'), 'Manifest'),
});

export const identityRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/identity',
  validateSearch: address({ cursor: text }),
  component: lazyRouteComponent(() => import('./identity/identity.tsx'), 'Identity'),
});

export const newConnectionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/identity/new',
  validateSearch: address({
    provider: oneOf('okta', 'entra', 'google', 'keycloak', 'directory'),
    protocol: oneOf('oidc', 'saml', 'ldap'),
    step: oneOf('provider', 'there', 'here', 'test', 'people'),
    connectionId: text,
  }),
  component: lazyRouteComponent(() => import('./identity/new.tsx'), 'NewConnection'),
});

export const connectionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/identity/$connectionId',
  validateSearch: address({ part: oneOf('assertions', 'signals') }),
  component: lazyRouteComponent(() => import('./identity/connection.tsx'), 'OneConnection'),
});

export const connectionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/connections',
  validateSearch: address({ cursor: text }),
  component: lazyRouteComponent(() => import('./connections/connections.tsx'), 'Connections'),
});

export const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: address({
    action: text,
    status: oneOf('success', 'failure', 'blocked'),
    principalId: text,
    agentId: text,
    actor: text,
    requestId: text,
    since: time,
    until: time,
    order: oneOf('asc', 'desc'),
    cursor: text,
  }),
  component: lazyRouteComponent(() => import('./audit/audit.tsx'), 'Audit'),
});

export const entryRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit/$entryId',
  component: lazyRouteComponent(() => import('./audit/entry.tsx'), 'Entry'),
});

export const webhooksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks',
  validateSearch: address({ cursor: text }),
  component: lazyRouteComponent(() => import('./webhooks/webhooks.tsx'), 'Webhooks'),
});

const signatureRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks/signature',
  component: lazyRouteComponent(() => import('./webhooks/signature.tsx'), 'Signature'),
});

export const webhookRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks/$webhookId',
  validateSearch: address({
    status: oneOf('pending', 'delivered', 'failed'),
    eventType: text,
    cursor: text,
  }),
  component: lazyRouteComponent(() => import('./webhooks/webhook.tsx'), 'Webhook'),
});

export const deliveryRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks/$webhookId/$deliveryId',
  component: lazyRouteComponent(() => import('./webhooks/delivery.tsx'), 'Delivery'),
});

export const eventsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/events',
  validateSearch: address({ types: text }),
  component: lazyRouteComponent(() => import('./events/events.tsx'), 'Events'),
});

export const decisionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/decisions',
  validateSearch: address({
    status: oneOf('pending', 'approved', 'consumed', 'denied', 'cancelled', 'superseded', 'expired'),
    agentId: text,
    grantId: text,
    caseId: text,
    cursor: text,
  }),
  component: lazyRouteComponent(() => import('./decisions/decisions.tsx'), 'Decisions'),
});

export const decisionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/decisions/$decisionId',
  component: lazyRouteComponent(() => import('./decisions/decision.tsx'), 'Decision'),
});

export const approversRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/approvers',
  validateSearch: address({ cursor: text }),
  component: lazyRouteComponent(() => import('./approvers/approvers.tsx'), 'Approvers'),
});

export const anomaliesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/anomalies',
  validateSearch: address({
    status: oneOf('open', 'acknowledged', 'resolved'),
    severity: oneOf('critical', 'high', 'medium', 'low'),
    agentId: text,
    cursor: text,
  }),
  component: lazyRouteComponent(() => import('./anomalies/anomalies.tsx'), 'Anomalies'),
});

export const alertRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/anomalies/$alertId',
  component: lazyRouteComponent(() => import('./anomalies/alert.tsx'), 'Alert'),
});

export const denialsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/denials',
  validateSearch: address({
    show: oneOf('failed'),
    denial: text,
    principalId: text,
    agentId: text,
    code: text,
    operationId: text,
    cursor: text,
  }),
  component: lazyRouteComponent(() => import('./denials/denials.tsx'), 'Denials'),
});

export const denialRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/denials/$entryId',
  component: lazyRouteComponent(() => import('./denials/denial.tsx'), 'Denial'),
});

export const failedRequestRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/denials/requests/$requestId',
  component: lazyRouteComponent(() => import('./denials/failed-request.tsx'), 'FailedRequest'),
});

/** The pages behind the sign-in. The code of each comes with its first visit. */
export const pageRoutes = [
  overviewRoute,
  tourRoute,
  agentsRoute,
  agentRoute,
  grantsRoute,
  grantRoute,
  keysRoute,
  usageRoute,
  settingsRoute,
  membersRoute,
  changesRoute,
  requestsRoute,
  peopleRoute,
  personRoute,
  policiesRoute,
  newPolicyRoute,
  policyRoute,
  manifestsRoute,
  manifestRoute,
  identityRoute,
  newConnectionRoute,
  connectionRoute,
  connectionsRoute,
  auditRoute,
  entryRoute,
  denialsRoute,
  denialRoute,
  failedRequestRoute,
  webhooksRoute,
  signatureRoute,
  webhookRoute,
  deliveryRoute,
  eventsRoute,
  decisionsRoute,
  decisionRoute,
  approversRoute,
  anomaliesRoute,
  alertRoute,
] as const;
