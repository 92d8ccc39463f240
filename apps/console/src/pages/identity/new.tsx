import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { api, query } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { AllowedButton } from '../../parts/allowed-button.tsx';
import { announce } from '../../parts/announcer.tsx';
import { Page, Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { newConnectionRoute } from '../routes.ts';
import { Arrivals } from './arrivals.tsx';
import { Steps, Values } from './fields.tsx';
import { Here } from './here.tsx';
import { ByLink } from './links.tsx';
import {
  acsUrl,
  type Connection,
  entityId,
  PROVIDERS,
  type Protocol,
  type Provider,
  protocolsOf,
  redirectUri,
  STEPS,
  type Step,
  walkthroughOf,
} from './providers.ts';
import { Provisioning } from './scim.tsx';
import { Trial, Use, usePasses } from './trial.tsx';

const say = sayer('identity');

interface At {
  readonly provider: Provider;
  readonly protocol: Protocol;
  readonly connectionId?: string;
}

/** Five steps, each of which the address names, so that a reload or a link comes back to it. */
export function NewConnection() {
  const { provider, protocol, connectionId, step = 'provider' } = newConnectionRoute.useSearch();
  const at = provider && {
    provider,
    protocol:
      protocol && protocolsOf(provider).includes(protocol) ? protocol : (protocolsOf(provider)[0] ?? 'oidc'),
    ...(connectionId && { connectionId }),
  };
  return (
    <Page trail={<Link to="/identity">{say('all')}</Link>} title={say('newTitle')} lead={say('newLead')}>
      <Progress step={at ? step : 'provider'} />
      {at && step !== 'provider' ? <Later at={at} step={step} /> : <Choose />}
    </Page>
  );
}

const Progress = ({ step }: { readonly step: Step }) => (
  <ol className="progress" aria-label={say('steps')}>
    {STEPS.map((one) => (
      <li key={one} {...(one === step && { 'aria-current': 'step' })}>
        {say(`step-${one}`)}
      </li>
    ))}
  </ol>
);

function Choose() {
  const mayChoose = PROVIDERS.flatMap((provider) =>
    protocolsOf(provider).map((protocol) => ({ provider, protocol })),
  );
  return (
    <div className="columns">
      <Panel title={say('which')}>
        <ul className="rows">
          {mayChoose.map(({ provider, protocol }) => (
            <li key={`${provider}-${protocol}`}>
              <Link
                to="/identity/new"
                search={{ provider, protocol, step: provider === 'directory' ? 'here' : 'there' }}
              >
                {say('by', { provider: labelOf(provider), protocol: say(protocol) })}
              </Link>
            </li>
          ))}
        </ul>
      </Panel>
      <Panel title={say('somebodyElse')}>
        <p>{say('somebodyElseText')}</p>
        <div>
          <ByLink />
        </div>
      </Panel>
    </div>
  );
}

const labelOf = (provider: Provider) => walkthroughOf(provider)?.label ?? say('directory');

function Later({ at, step }: { readonly at: At; readonly step: Exclude<Step, 'provider'> }) {
  const navigate = useNavigate();
  const go = (to: Step, connectionId = at.connectionId) =>
    void navigate({
      to: '/identity/new',
      search: { ...at, step: to, ...(connectionId !== undefined && { connectionId }) },
    });
  if (step === 'there') return <There at={at} next={() => go('here')} />;
  if (step === 'here') return <EnterHere at={at} made={(id) => go('test', id)} />;
  if (at.connectionId === undefined) return <There at={at} next={() => go('here')} />;
  if (step === 'test')
    return <Test at={at} connectionId={at.connectionId} back={() => go('here')} next={() => go('people')} />;
  return (
    <>
      <Provisioning provider={at.provider} />
      <div className="actions">
        <Link className="button" to="/identity/$connectionId" params={{ connectionId: at.connectionId }}>
          {say('finish')}
        </Link>
      </div>
    </>
  );
}

interface EnterHereProps {
  readonly at: At;
  readonly made: (connectionId: string) => void;
}

function EnterHere({ at: { provider, protocol, connectionId: id = '' }, made }: EnterHereProps) {
  const read = query.useQuery(
    'get',
    '/v1/sso/connections/{id}',
    { params: { path: { id } } },
    { enabled: id !== '' },
  );
  const label = labelOf(provider);
  return (
    <Panel title={say('hereTitle', { provider: label })}>
      {read.error && <Problem error={read.error} retry={() => void read.refetch()} />}
      {id === '' && <Here protocol={protocol} label={label} made={made} />}
      {read.data && <Here protocol={read.data.protocol} label={label} held={read.data} made={made} />}
    </Panel>
  );
}

function There({ at: { provider, protocol }, next }: { readonly at: At; readonly next: () => void }) {
  const walkthrough = walkthroughOf(provider);
  const values: readonly (readonly [string, string])[] =
    protocol === 'oidc'
      ? [[say('redirectUri'), redirectUri()]]
      : [
          [say('acsUrl'), acsUrl()],
          [say('entityId'), entityId()],
        ];
  return (
    <Panel title={say('thereTitle', { provider: labelOf(provider) })}>
      {walkthrough && <Steps steps={protocol === 'saml' ? walkthrough.saml : walkthrough.oidc} />}
      <Values values={values} />
      <div className="actions">
        <Button className="button strong" onPress={next}>
          {say('next')}
        </Button>
      </div>
    </Panel>
  );
}

interface TestProps {
  readonly at: At;
  readonly connectionId: string;
  readonly back: () => void;
  readonly next: () => void;
}

function Test({ connectionId, ...go }: TestProps) {
  const params = { path: { id: connectionId } };
  const { data, error, refetch } = query.useQuery('get', '/v1/sso/connections/{id}', { params });
  if (error) return <Problem error={error} retry={() => void refetch()} />;
  return data ? <Tested connection={data} {...go} /> : <Loading />;
}

interface TestedProps extends Omit<TestProps, 'connectionId'> {
  readonly connection: Connection;
}

function Tested({ at, connection: data, back, next }: TestedProps) {
  const [state, set] = useState<{ readonly isBusy?: true; readonly error?: unknown }>({});
  const queries = useQueryClient();
  const passes = usePasses(data);
  const isOn = data.status === 'active';
  const activate = async () => {
    set({ isBusy: true });
    try {
      const params = { path: { id: data.id } };
      await api.PATCH('/v1/sso/connections/{id}', { params, body: { status: 'active' } });
      await queries.invalidateQueries({ queryKey: ['get', '/v1/sso/connections/{id}'] });
      set({});
      announce(say('activated'));
    } catch (failure) {
      set({ error: failure });
    }
  };
  return (
    <>
      <Trial connection={data} isDue={data.lastTestedAt === null} />
      <Arrivals connection={data} />
      {state.error !== undefined && <Problem error={state.error} />}
      <Panel title={say('activateTitle')}>
        <Led at={at} connection={data} />
        <div className="actions">
          <Button className="button" onPress={back}>
            {say('mend')}
          </Button>
          {isOn || !passes ? (
            <Use connection={data} />
          ) : (
            <AllowedButton
              needs="configure"
              className="button strong"
              onPress={() => void activate()}
              isPending={state.isBusy === true}
            >
              {say('activate')}
            </AllowedButton>
          )}
          <Button className={isOn ? 'button strong' : 'button'} onPress={next}>
            {say('toPeople')}
          </Button>
        </div>
      </Panel>
    </>
  );
}

/** Who is led to the connection. Where it lists no domain, the reader is led to where some are listed. */
function Led({ at, connection: { domains, status } }: { readonly at: At; readonly connection: Connection }) {
  if (status !== 'active') return <p>{say('activateText')}</p>;
  if (domains.length > 0) return <p>{say('isActive', { domains: domains.join(', ') })}</p>;
  return (
    <p>
      {say('noDomain')}{' '}
      <Link to="/identity/new" search={{ ...at, step: 'here' }}>
        {say('listDomains')}
      </Link>
    </p>
  );
}
