import { createRootRoute, createRoute, lazyRouteComponent, Outlet } from '@tanstack/react-router';
import { isRefusal, isSignedOut } from '../api/errors.ts';
import { PageLoading, Problem } from '../parts/states.tsx';
import { SessionContext, useSessionQuery } from '../session/session.ts';
import { Shell } from './shell.tsx';

export const rootRoute = createRootRoute();

/** Where a person becomes a member, who has no session yet. */
export const joinRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/join',
  component: lazyRouteComponent(() => import('../session/join.tsx'), 'Join'),
});

/** What every page stands in: the session, and around it the navigation. Without a session it is the sign-in page. */
export const shellRoute = createRoute({ getParentRoute: () => rootRoute, id: 'shell', component: Guarded });

const SignIn = lazyRouteComponent(() => import('../session/sign-in.tsx'), 'SignIn');
const Enrol = lazyRouteComponent(() => import('../session/enrol.tsx'), 'Enrol');

function Guarded() {
  const { data: session, error, refetch } = useSessionQuery();
  if (session?.passkeyRequired) return <Enrol />;
  if (session)
    return (
      <SessionContext value={session}>
        <Shell>
          <Outlet />
        </Shell>
      </SessionContext>
    );
  if (isRefusal(error)) return <SignIn refusal={isSignedOut(error) ? undefined : error} />;
  if (error)
    return (
      <main className="alone">
        <Problem error={error} retry={() => void refetch()} />
      </main>
    );
  return <PageLoading />;
}
