import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { Button } from 'react-aria-components';
import { ApiError, NoPasskey } from '../api/errors.ts';
import { sayer } from '../messages/language.ts';
import { Copy } from './text.tsx';

const say = sayer('states');
/** What the reader can do, by the code of the error. A code without a sentence of its own has `mend`. */
const sayMend = sayer('mends');

/** A page, or a part of one, that is on its way. It says so only when it takes long enough to be noticed. */
export const Loading = ({ label = say('loading') }: { readonly label?: string }) => (
  <p className="loading" role="status">
    {label}
  </p>
);

export const PageLoading = () => (
  <div className="page">
    <Loading />
  </div>
);

interface ProblemProps {
  readonly error: unknown;
  readonly retry?: () => void;
  /** What could not be done, if the error's own sentence does not say it. */
  readonly title?: string;
}

/** What went wrong, what the reader can do, and what they quote when they ask somebody. */
export function Problem({ error, retry, title = say('failed') }: ProblemProps) {
  const refusal = error instanceof ApiError ? error : undefined;
  const waiting = useCountdown(refusal?.retryAfter);
  return (
    <section className="problem" role="alert">
      <h2>{title}</h2>
      <p>{refusal ? refusal.message : error instanceof NoPasskey ? say('noPasskey') : say('fault')}</p>
      <p className="aside">{waiting > 0 ? say('wait', { seconds: waiting }) : mendOf(refusal)}</p>
      {refusal && (
        <p className="problem-facts">
          <code>{refusal.code}</code>
          {refusal.requestId && (
            <span>
              {say('request')} <code>{refusal.requestId}</code>{' '}
              <Copy text={refusal.requestId} of={say('request')} />
            </span>
          )}
        </p>
      )}
      {retry && (
        <Button className="button" onPress={retry} isDisabled={waiting > 0}>
          {say('retry')}
        </Button>
      )}
    </section>
  );
}

function mendOf(refusal: ApiError | undefined): string {
  const role = refusal?.details.role;
  if (refusal?.code === 'FORBIDDEN' && typeof role === 'string') return sayMend('role', { role });
  switch (refusal?.code) {
    case 'UNREACHABLE':
    case 'NOT_FOUND':
    case 'FORBIDDEN':
    case 'CONFLICT':
    case 'BAD_REQUEST':
    case 'PLAN_LIMIT_EXCEEDED':
    case 'CHANGE_PROPOSED':
    case 'SERVICE_UNAVAILABLE':
      return sayMend(refusal.code);
    default:
      return sayMend('other');
  }
}

/** Counts the seconds down until a limit takes requests again. */
function useCountdown(seconds = 0): number {
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    setLeft(seconds);
    if (seconds <= 0) return;
    const timer = setInterval(() => setLeft((now) => Math.max(0, now - 1)), 1000);
    return () => clearInterval(timer);
  }, [seconds]);
  return left;
}

/** For the router: a page that could not be loaded or drawn. */
export const PageProblem = ({ error, reset }: { readonly error: unknown; readonly reset: () => void }) => (
  <div className="page">
    <Problem error={error} retry={reset} />
  </div>
);

export const NoSuchPage = () => (
  <div className="page">
    <section className="empty">
      <h1>{say('noPage')}</h1>
      <p>{say('noPageText')}</p>
      <p>
        <Link to="/">{say('home')}</Link>
      </p>
    </section>
  </div>
);

interface EmptyProps {
  readonly title: string;
  readonly children: ReactNode;
}

/** In place of an empty table: what would stand here, and what to paste so that it does. */
export const Empty = ({ title, children }: EmptyProps) => (
  <section className="empty">
    <h2>{title}</h2>
    {children}
  </section>
);
