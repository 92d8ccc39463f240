import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { api, query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';
import { AllowedButton } from '../../parts/allowed-button.tsx';
import { Facts, Page, Panel } from '../../parts/page.tsx';
import { PageLoading, PageProblem, Problem } from '../../parts/states.tsx';
import { Id, Scopes, Status, When } from '../../parts/text.tsx';
import { webhookRoute } from '../routes.ts';
import { Deliveries } from './deliveries.tsx';

const say = sayer('webhooks');

type Webhook = Schemas['Webhook'];

/** One address: what goes there, how that went, and what can be done when it failed. */
export function Webhook() {
  const { webhookId } = webhookRoute.useParams();
  const read = query.useQuery('get', '/v1/webhooks/{id}', { params: { path: { id: webhookId } } });
  if (read.error) return <PageProblem error={read.error} reset={() => void read.refetch()} />;
  if (!read.data) return <PageLoading />;
  const webhook = read.data;
  const { id, url, description, status, events, format, secretRotatedAt } = webhook;
  return (
    <Page
      trail={<Link to="/webhooks">{say('title')}</Link>}
      title={url}
      lead={
        <>
          <Status status={status} /> <Id id={id} of={say('id')} />
        </>
      }
      actions={<Actions webhook={webhook} />}
    >
      <Panel title={say('about')}>
        <Facts
          facts={[
            [say('events'), <Scopes key="events" scopes={events} most={12} />],
            [say('format'), say(format)],
            [say('description'), <bdi key="about">{description || say('noDescription')}</bdi>],
            [say('created'), <When key="created" at={webhook.createdAt} />],
            [say('lastDelivery'), <When key="last" at={webhook.lastDeliveryAt} />],
            [say('secretMade'), <When key="secret" at={secretRotatedAt ?? webhook.createdAt} />],
            ...(webhook.previousSecretExpiresAt
              ? [[say('previousUntil'), <When key="old" at={webhook.previousSecretExpiresAt} />] as const]
              : []),
          ]}
        />
      </Panel>
      <Deliveries webhookId={id} />
    </Page>
  );
}

const EndpointDialog = lazy(() => import('./endpoint-dialog.tsx'));
const RotateDialog = lazy(() => import('./rotate-dialog.tsx'));

function Actions({ webhook }: { readonly webhook: Webhook }) {
  const { id, url, status } = webhook;
  const [isOpen, open] = useState<'change' | 'rotate'>();
  const navigate = useNavigate();
  const isActive = status === 'active';
  const params = { path: { id } };
  return (
    <>
      <Test webhookId={id} />
      <AllowedButton needs="configure" onPress={() => open('change')}>
        {say('change')}
      </AllowedButton>
      <AllowedButton needs="configure" onPress={() => open('rotate')}>
        {say('rotate')}
      </AllowedButton>
      <Act
        text={say(isActive ? 'disable' : 'enable')}
        label={say(isActive ? 'disable' : 'enable')}
        title={say(isActive ? 'disableTitle' : 'enableTitle')}
        needs="configure"
        isHarmless={!isActive}
        isLarge
        run={() =>
          api.PATCH('/v1/webhooks/{id}', { params, body: { status: isActive ? 'disabled' : 'active' } })
        }
      >
        <p>{say(isActive ? 'disableText' : 'enableText')}</p>
      </Act>
      <Act
        text={say('remove')}
        label={say('remove')}
        title={say('removeTitle', { url })}
        needs="configure"
        isLarge
        run={() => api.DELETE('/v1/webhooks/{id}', { params })}
        after={() => void navigate({ to: '/webhooks' })}
      >
        <p>{say('removeText')}</p>
      </Act>
      {isOpen && (
        <Suspense>
          {isOpen === 'change' ? (
            <EndpointDialog held={webhook} close={() => open(undefined)} />
          ) : (
            <RotateDialog id={id} close={() => open(undefined)} />
          )}
        </Suspense>
      )}
    </>
  );
}

/** Sends an event to this address alone, and shows how that goes. */
function Test({ webhookId }: { readonly webhookId: string }) {
  const navigate = useNavigate();
  const [state, set] = useState<{ readonly isBusy?: true; readonly error?: unknown }>({});
  const test = async () => {
    set({ isBusy: true });
    try {
      const call = { params: { path: { id: webhookId } }, body: {} };
      const { data } = await api.POST('/v1/webhooks/{id}/test', call);
      if (!data) return;
      const { deliveryId } = data;
      await navigate({ to: '/webhooks/$webhookId/$deliveryId', params: { webhookId, deliveryId } });
    } catch (error) {
      set({ error });
    }
  };
  return (
    <>
      <AllowedButton needs="operate" isPending={state.isBusy === true} onPress={() => void test()}>
        {say('test')}
      </AllowedButton>
      {state.error !== undefined && <Problem error={state.error} />}
    </>
  );
}
