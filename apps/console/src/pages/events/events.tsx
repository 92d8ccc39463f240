import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Button } from 'react-aria-components';
import { query } from '../../api/client.ts';
import { matches, useLive } from '../../live/live.ts';
import type { LiveEvent } from '../../live/stream.ts';
import { sayer } from '../../messages/language.ts';
import { announce } from '../../parts/announcer.tsx';
import { Code, Snippets } from '../../parts/code.tsx';
import { ClearFilters, TextFilter } from '../../parts/filters.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { When } from '../../parts/text.tsx';
import { eventsRoute } from '../routes.ts';

const say = sayer('events');

const BEFORE = 10 * 60_000; // milliseconds of the past that the page begins with
const SHOWN = 200;

/** What happens in the account, as it happens, the newest first. */
export function Events() {
  const { types } = eventsRoute.useSearch();
  const { connection, received } = useLive();
  const [since] = useState(() => new Date(Date.now() - BEFORE).toISOString());
  const before = query.useQuery('get', '/v1/events', { params: { query: { since, limit: 500 } } });
  const [held, hold] = useState<readonly LiveEvent[]>();
  const all = useMemo(
    () => newestFirst([...(before.data?.events ?? []), ...received.map(({ event }) => event)]),
    [before.data, received],
  );
  const patterns = types?.split(/[\s,]+/).filter(Boolean) ?? ['*'];
  const isWanted = ({ type }: LiveEvent) => matches(patterns, type);
  const shown = (held ?? all).filter(isWanted).slice(0, SHOWN);
  const count = held ? all.filter((each) => !held.includes(each) && isWanted(each)).length : 0;
  const pause = () => {
    hold(all);
    announce(say('paused'));
  };
  return (
    <Page title={say('title')} lead={say('lead')}>
      <div className="toolbar">
        <TextFilter name="types" label={say('types')} value={types} placeholder="grant.*, token.issued" />
        {types !== undefined && <ClearFilters names={['types']} />}
        <span className="live">
          <span className={connection === 'open' ? 'live-mark' : 'aside'} role="status">
            {say(connection)}
          </span>
          <Button className="button" onPress={() => (held ? hold(undefined) : pause())}>
            {held ? say(count > 0 ? 'followNew' : 'follow', { count }) : say('pause')}
          </Button>
        </span>
      </div>
      {before.error && <Problem error={before.error} retry={() => void before.refetch()} />}
      {before.isPending && <Loading />}
      {before.data && shown.length === 0 && (
        <Empty title={say(types === undefined ? 'none' : 'noneOfTypes')}>
          <p>{say('noneText')}</p>
          <Snippets label={say('elsewhere')} snippets={snippets(location.origin)} />
        </Empty>
      )}
      {shown.length > 0 && (
        <ol className="tail" aria-label={say('title')}>
          {shown.map((event) => (
            <Entry key={event.id} event={event} open={pause} isHeld={held !== undefined} />
          ))}
        </ol>
      )}
    </Page>
  );
}

/** Both may have the same event. */
const newestFirst = (events: readonly LiveEvent[]): readonly LiveEvent[] =>
  [...new Map(events.map((event) => [event.id, event])).values()].reverse();

interface EntryProps {
  readonly event: LiveEvent;
  /** What is read stays where it is, so opening one pauses the tail. */
  readonly open: () => void;
  readonly isHeld: boolean;
}

function Entry({ event, open, isHeld }: EntryProps) {
  const { id, type, createdAt, data } = event;
  const { agentId, grantId, principalId } = data;
  return (
    <li>
      <details onToggle={({ currentTarget }) => currentTarget.open && !isHeld && open()}>
        <summary>
          <code>{type}</code> <bdi className="aside">{[principalId, agentId].filter(isText).join(' · ')}</bdi>{' '}
          <When at={createdAt} />
        </summary>
        <Code text={JSON.stringify(event, null, 2)} label={`${type} ${id}`} />
        <p className="actions">
          {isText(grantId) && (
            <Link to="/grants/$grantId" params={{ grantId }}>
              {say('grant')}
            </Link>
          )}
          {isText(agentId) && (
            <Link to="/agents/$agentId" params={{ agentId }}>
              {say('agent')}
            </Link>
          )}
          {isText(principalId) && (
            <Link to="/people/$principalId" params={{ principalId }}>
              {say('person')}
            </Link>
          )}
        </p>
      </details>
    </li>
  );
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const snippets = (origin: string) => ({
  CLI: 'behest events stream --types grant.*',
  curl: `curl -N '${origin}/v1/events/stream?types=grant.*' \\
  -H "authorization: Bearer $BEHEST_API_KEY"`,
});
