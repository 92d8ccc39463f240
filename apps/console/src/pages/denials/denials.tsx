import { Link } from '@tanstack/react-router';
import { sayer } from '../../messages/language.ts';
import { Page } from '../../parts/page.tsx';
import { denialsRoute } from '../routes.ts';
import { DeniedCalls } from './calls.tsx';
import { FailedRequests } from './failed.tsx';

const say = sayer('denials');

/** Two kinds of no: to a call of a tool, and to a request to the API itself. */
export function Denials() {
  const { show } = denialsRoute.useSearch();
  return (
    <Page title={say('title')} lead={say(show === 'failed' ? 'failedLead' : 'lead')}>
      <nav className="views" aria-label={say('kinds')}>
        <Link to="/denials" search={{}} aria-current={show === undefined ? 'page' : undefined}>
          {say('calls')}
        </Link>
        <Link to="/denials" search={{ show: 'failed' }} aria-current={show === 'failed' ? 'page' : undefined}>
          {say('failed')}
        </Link>
      </nav>
      {show === 'failed' ? <FailedRequests /> : <DeniedCalls />}
    </Page>
  );
}
