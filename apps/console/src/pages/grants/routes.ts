import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { address, oneOf, text } from '../../parts/address.ts';
import { shellRoute } from '../../shell/root.tsx';

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
  component: lazyRouteComponent(() => import('./grants.tsx'), 'Grants'),
});

export const grantRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/grants/$grantId',
  component: lazyRouteComponent(() => import('./grant.tsx'), 'Grant'),
});

export const grantRoutes = [grantsRoute, grantRoute] as const;
