import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { address, oneOf, text } from '../../parts/address.ts';
import { shellRoute } from '../../shell/root.tsx';

export const requestsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/requests',
  validateSearch: address({
    status: oneOf('pending', 'approved', 'denied', 'cancelled', 'consumed', 'expired'),
    agentId: text,
    principalId: text,
    cursor: text,
  }),
  component: lazyRouteComponent(() => import('./requests.tsx'), 'Requests'),
});

export const requestRoutes = [requestsRoute] as const;
