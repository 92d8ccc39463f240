import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { address, oneOf, text } from '../../parts/address.ts';
import { shellRoute } from '../../shell/root.tsx';

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
    order: oneOf('asc', 'desc'),
    cursor: text,
  }),
  component: lazyRouteComponent(() => import('./audit.tsx'), 'Audit'),
});

export const entryRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit/$entryId',
  component: lazyRouteComponent(() => import('./entry.tsx'), 'Entry'),
});

export const auditRoutes = [auditRoute, entryRoute] as const;
