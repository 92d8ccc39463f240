import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/root.tsx';

const tourRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tour',
  component: lazyRouteComponent(() => import('./tour.tsx'), 'Tour'),
});

export const tourRoutes = [tourRoute] as const;
