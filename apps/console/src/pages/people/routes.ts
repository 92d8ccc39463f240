import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { address, text } from '../../parts/address.ts';
import { shellRoute } from '../../shell/root.tsx';

export const peopleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/people',
  validateSearch: address({ query: text, cursor: text }),
  component: lazyRouteComponent(() => import('./people.tsx'), 'People'),
});

export const personRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/people/$principalId',
  component: lazyRouteComponent(() => import('./person.tsx'), 'Person'),
});

export const peopleRoutes = [peopleRoute, personRoute] as const;
