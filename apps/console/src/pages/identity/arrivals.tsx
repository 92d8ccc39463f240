import { useEffect, useState } from 'react';
import { query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Facts, Panel } from '../../parts/page.tsx';
import { Problem } from '../../parts/states.tsx';
import { Scopes, When } from '../../parts/text.tsx';
import { useSession } from '../../session/session.ts';
import { type Connection, signInUrl } from './providers.ts';

const say = sayer('identity');

type Session = Schemas['SsoSession'];

/** How often the service is asked whether something arrived, and for how long. */
export const LOOK_EVERY_MS = 2000;
const LOOK_FOR_MS = 300_000;

/** @returns whether nothing newer has come since the reader began to wait, and what begins that */
export function useWaiting(newest: string) {
  const [since, setSince] = useState<string>();
  useEffect(() => {
    if (since === undefined) return;
    const end = setTimeout(() => setSince(undefined), LOOK_FOR_MS);
    return () => clearTimeout(end);
  }, [since]);
  return { isWaiting: since !== undefined && since === newest, wait: () => setSince(newest) };
}

/** What arrived at the last sign-ins by a connection, and why one was refused. A sign-in that is under way shows up. */
export function Arrivals({ connection: { id, status } }: { readonly connection: Connection }) {
  const { developer } = useSession();
  const [isLooking, look] = useState(false);
  const often = { refetchInterval: isLooking ? LOOK_EVERY_MS : (false as const) };
  const sessions = query.useQuery(
    'get',
    '/v1/sso/sessions',
    { params: { query: { connectionId: id, limit: 5 } } },
    often,
  );
  const refused = query.useQuery(
    'get',
    '/v1/audit/entries',
    { params: { query: { actor: `sso:${id}`, action: 'sso.login_failed', order: 'desc', limit: 3 } } },
    often,
  );
  const [last] = sessions.data?.sessions ?? [];
  const refusals = refused.data?.entries ?? [];
  const { isWaiting, wait } = useWaiting(`${last?.id}/${refusals[0]?.entryId}`);
  useEffect(() => look(isWaiting), [isWaiting]);
  const error = sessions.error ?? refused.error;
  return (
    <Panel
      title={say('arrived')}
      actions={
        status !== 'inactive' && (
          <a
            className="button"
            href={signInUrl(developer.developerId, id)}
            target="_blank"
            rel="noopener"
            onClick={wait}
          >
            {say('signInOnce')}
          </a>
        )
      }
    >
      {error && <Problem error={error} />}
      <p className="aside" role="status">
        {isWaiting ? say('waiting') : say('arrivedText')}
      </p>
      {last && <Arrived session={last} />}
      {!last && sessions.data && <p>{say('nothingArrived')}</p>}
      {refusals.length > 0 && <h3>{say('refused')}</h3>}
      <ul className="rows">
        {refusals.map(({ entryId, timestamp, metadata }) => (
          <li key={entryId}>
            <When at={timestamp} />
            <code>{text(metadata, 'reason')}</code>
            <span>{text(metadata, 'message')}</span>
            {text(metadata, 'said') && <code>{text(metadata, 'said')}</code>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const text = (metadata: object, name: string) => {
  const value: unknown = Object.entries(metadata).find(([key]) => key === name)?.[1];
  return typeof value === 'string' ? value : '';
};

const Arrived = ({ session }: { readonly session: Session }) => (
  <Facts
    facts={[
      [say('when'), <When key="when" at={session.createdAt} />],
      [say('subject'), <code key="subject">{session.idpSubject}</code>],
      [say('email'), session.email ?? say('didNotCome')],
      [say('personName'), session.name ?? say('didNotCome')],
      [say('groups'), session.groups.length === 0 ? say('didNotCome') : session.groups.join(', ')],
      [
        say('scopes'),
        session.mappedScopes.length === 0 ? (
          say('noScopes')
        ) : (
          <Scopes key="scopes" scopes={session.mappedScopes} most={10} />
        ),
      ],
      [say('principal'), session.principalId ?? say('noUser')],
    ]}
  />
);
