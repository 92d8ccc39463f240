import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Button } from 'react-aria-components';
import { api, query } from '../../api/client.ts';
import { number, sayer } from '../../messages/language.ts';
import { Activity } from '../../parts/activity.tsx';
import { AllowedButton } from '../../parts/allowed-button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Evidence, saveFile } from '../../parts/evidence.tsx';
import { Facts, Page, Panel } from '../../parts/page.tsx';
import { PageLoading, PageProblem, Problem } from '../../parts/states.tsx';
import { Stop } from '../../parts/stop.tsx';
import { Status, When } from '../../parts/text.tsx';
import { personRoute } from '../routes.ts';

const say = sayer('person');

export function Person() {
  const { principalId } = personRoute.useParams();
  const read = query.useQuery('get', '/v1/principals/{principalId}', { params: { path: { principalId } } });
  if (read.error) return <PageProblem error={read.error} reset={() => void read.refetch()} />;
  if (!read.data) return <PageLoading />;
  const { grants, openRequests, sessions, passkeys, services, hasAddress, directory, offboarding } =
    read.data;
  const counted = (count: number) => (read.data.truncated && count === 1000 ? '1,000+' : number(count));
  return (
    <Page
      trail={<Link to="/people">{say('all')}</Link>}
      title={principalId}
      actions={
        <>
          <Evidence of={{ principalId }} />
          {offboarding && <Statement principalId={principalId} />}
          {offboarding?.isClosed ? (
            <Admit principalId={principalId} />
          ) : (
            <Offboard principalId={principalId} />
          )}
          <Stop target={{ kind: 'person', id: principalId, name: principalId }} />
        </>
      }
    >
      <Panel
        title={say('holds')}
        actions={
          <Link to="/grants" search={{ principalId }}>
            {say('allGrants')}
          </Link>
        }
      >
        <Facts
          facts={[
            [say('active'), counted(grants.active)],
            [
              say('ended'),
              say('endedText', { revoked: counted(grants.revoked), expired: counted(grants.expired) }),
            ],
            [
              say('requests'),
              <Link key="requests" to="/requests" search={{ principalId }}>
                {number(openRequests)}
              </Link>,
            ],
            [say('sessions'), counted(sessions)],
            [say('passkeys'), counted(passkeys)],
            [say('services'), services.length === 0 ? say('none') : services.join(', ')],
            [say('address'), hasAddress ? say('proved') : say('none')],
            [
              say('directory'),
              directory ? (
                <span key="directory">
                  <bdi>{directory.userName}</bdi> <Status status={directory.active ? 'active' : 'disabled'} />
                </span>
              ) : (
                say('none')
              ),
            ],
            [say('seen'), <When key="seen" at={read.data.lastActivityAt} />],
            ...(offboarding ? [offboardedFact(offboarding)] : []),
          ]}
        />
      </Panel>
      <Activity title={say('activity')} filter={{ principalId }} />
    </Page>
  );
}

const offboardedFact = ({
  endedAt,
  isClosed,
}: {
  endedAt: string;
  isClosed: boolean;
}): [string, ReactNode] => [
  say('offboarded'),
  <span key="offboarded">
    <When at={endedAt} /> ({isClosed ? say('closed') : say('admitted')})
  </span>,
];

interface OfPerson {
  readonly principalId: string;
}

/** Saves the signed statement that nothing was left, which an auditor checks without the service. */
function Statement({ principalId }: OfPerson) {
  const [error, fail] = useState<unknown>();
  const save = async () => {
    try {
      const params = { path: { principalId } };
      const { data } = await api.GET('/v1/principals/{principalId}/offboarding', { params });
      saveFile(
        new Blob([JSON.stringify(data, null, 2)], { type: 'application/json' }),
        'offboarding',
        'json',
      );
      fail(undefined);
    } catch (fault) {
      fail(fault);
    }
  };
  return (
    <>
      <Button className="button" onPress={() => void save()}>
        {say('statement')}
      </Button>
      {error !== undefined && <Problem error={error} />}
    </>
  );
}

/** Lets agents ask somebody again who was offboarded. */
function Admit({ principalId }: OfPerson) {
  const [isAsking, ask] = useState(false);
  const queries = useQueryClient();
  return (
    <>
      <AllowedButton needs="operate" onPress={() => ask(true)}>
        {say('admit')}
      </AllowedButton>
      <Confirm
        isOpen={isAsking}
        close={() => ask(false)}
        title={say('admitTitle', { name: principalId })}
        action={say('admit')}
        run={async () => {
          await api.DELETE('/v1/principals/{principalId}/offboarding', { params: { path: { principalId } } });
          await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'get' });
        }}
      >
        <p>{say('admitText')}</p>
      </Confirm>
    </>
  );
}

/** As a directory does when it deletes somebody: what the person keeps here goes too. */
function Offboard({ principalId }: OfPerson) {
  const [isAsking, ask] = useState(false);
  const queries = useQueryClient();
  const params = { path: { principalId } };
  return (
    <>
      <Button className="button" onPress={() => ask(true)}>
        {say('offboard')}
      </Button>
      <Confirm
        isOpen={isAsking}
        close={() => ask(false)}
        title={say('offboardTitle', { name: principalId })}
        action={say('offboard')}
        run={async () => {
          await api.POST('/v1/principals/{principalId}/offboard', {
            params,
            body: { keepCredentials: false },
          });
          await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'get' });
        }}
      >
        <p>{say('offboardText')}</p>
      </Confirm>
    </>
  );
}
