import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { address, text } from '../../parts/address.ts';
import { shellRoute } from '../../shell/root.tsx';

export const membersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/members',
  validateSearch: address({ cursor: text }),
  component: lazyRouteComponent(() => import('./members.tsx'), 'Members'),
});

export const memberRoutes = [membersRoute] as const;
