import { Link, useRouterState } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import { onStepUp, query } from '../api/client.ts';
import { sayer } from '../messages/language.ts';
import { Announcer } from '../parts/announcer.tsx';
import { askToStop, useAskedToStop } from '../parts/stop.tsx';
import { signOut, useSession } from '../session/session.ts';
import { Pages } from './pages.tsx';

const say = sayer('shell');
const Drawer = lazy(() => import('./drawer.tsx'));
const Palette = lazy(() => import('./palette.tsx'));
const StepUp = lazy(() => import('../session/step-up.tsx'));
const StopDialog = lazy(() => import('../parts/stop-dialog.tsx'));

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

export function Shell({ children }: { readonly children: ReactNode }) {
  const { developer } = useSession();
  const stopped = query.useQuery('get', '/v1/me').data?.stoppedAt;
  const [isPaletteOpen, openPalette] = usePaletteKey();
  const main = useFocusOnNavigation();
  const pages = useCurrentInView();
  const toStop = useAskedToStop();
  const stepUp = useStepUp();

  return (
    <>
      <a className="skip" href="#main">
        {say('skip')}
      </a>
      {developer.mode === 'sandbox' && (
        <aside className="sandbox-bar" aria-label={say('mode')}>
          {say('sandbox')}
        </aside>
      )}
      <div className="frame">
        <header className="side">
          <div className="side-inner">
            <div className="side-head">
              <Link to="/" className="brand">
                Behest
              </Link>
              <SmallNavigation />
            </div>
            <Account />
            <Button className="search-button" onPress={() => openPalette(true)}>
              <span>{say('search')}</span>
              <kbd>{isApple ? '⌘ K' : 'Ctrl K'}</kbd>
            </Button>
            <nav className="wide" aria-label={say('pages')} ref={pages}>
              <Pages />
            </nav>
          </div>
        </header>
        <main id="main" ref={main} tabIndex={-1}>
          {stopped && (
            <p className="stopped-bar">
              <Link to="/">{say('stopped')}</Link>
            </p>
          )}
          {children}
        </main>
      </div>
      {isPaletteOpen && (
        <Suspense>
          <Palette close={() => openPalette(false)} />
        </Suspense>
      )}
      {toStop && (
        <Suspense>
          <StopDialog target={toStop} close={() => askToStop(undefined)} />
        </Suspense>
      )}
      {stepUp && (
        <Suspense>
          <StepUp end={stepUp} />
        </Suspense>
      )}
      <Announcer />
    </>
  );
}

function Account() {
  const { developer, member } = useSession();
  /** A new document holds nothing of the account. */
  const leave = () => signOut().finally(() => location.assign('/console'));
  return (
    <div className="account">
      <p className="account-name">
        <strong>{developer.name}</strong>
        <span className={`badge mode-${developer.mode}`}>{say(`mode-${developer.mode}`)}</span>
      </p>
      <p className="account-member">
        <span title={`${member.displayName}, ${member.role}`}>{member.displayName}</span>
        <Button className="quiet-button" onPress={() => void leave()}>
          {say('signOut')}
        </Button>
      </p>
    </div>
  );
}

/** The navigation of a narrow window, behind a button. */
function SmallNavigation() {
  const [isOpen, open] = useState(false);
  return (
    <>
      <Button className="narrow menu-button" aria-expanded={isOpen} onPress={() => open(true)}>
        {say('menu')}
      </Button>
      {isOpen && (
        <Suspense>
          <Drawer close={() => open(false)} />
        </Suspense>
      )}
    </>
  );
}

/** @returns what ends the question for the passkey, while it is asked */
function useStepUp() {
  const [end, ask] = useState<(isDone: boolean) => void>();
  useEffect(() => {
    onStepUp(
      () =>
        new Promise((answer) =>
          ask(() => (isDone: boolean) => {
            ask(undefined);
            answer(isDone);
          }),
        ),
    );
  }, []);
  return end;
}

function usePaletteKey() {
  const [isOpen, open] = useState(false);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(isApple ? event.metaKey : event.ctrlKey)) return;
      event.preventDefault();
      open((was) => !was);
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);
  return [isOpen, open] as const;
}

/** Where the reader goes on after a link: at the top of the new page, not in the navigation. */
function useFocusOnNavigation() {
  const main = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const last = useRef(path);
  useEffect(() => {
    if (last.current === path) return;
    last.current = path;
    main.current?.focus({ preventScroll: true });
  }, [path]);
  return main;
}

/** The navigation is longer than a low window, and shows where the reader is. */
function useCurrentInView() {
  const nav = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => {
    nav.current?.querySelector('[aria-current="page"]')?.scrollIntoView({ block: 'nearest' });
  }, [path]);
  return nav;
}
