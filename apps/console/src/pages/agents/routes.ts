import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { address, oneOf, text } from '../../parts/address.ts';
import { shellRoute } from '../../shell/root.tsx';

export const agentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents',
  validateSearch: address({ status: oneOf('active', 'suspended', 'revoked'), cursor: text }),
  component: lazyRouteComponent(() => import('./agents.tsx'), 'Agents'),
});

export const agentRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents/$agentId',
  component: lazyRouteComponent(() => import('./agent.tsx'), 'Agent'),
});

export const agentRoutes = [agentsRoute, agentRoute] as const;
