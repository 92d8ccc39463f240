import { query } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Facts, Page, Panel } from '../../parts/page.tsx';
import { PageLoading, PageProblem } from '../../parts/states.tsx';
import { Id, When } from '../../parts/text.tsx';
import { Branding } from './branding.tsx';

const say = sayer('settings');

export function Settings() {
  const { data, error, refetch } = query.useQuery('get', '/v1/me');
  if (error) return <PageProblem error={error} reset={() => void refetch()} />;
  if (!data) return <PageLoading />;
  return (
    <Page title={say('title')} lead={say('lead')}>
      <div className="columns">
        <Panel title={say('account')}>
          <Facts
            facts={[
              [say('name'), data.name],
              [say('id'), <Id key="id" id={data.developerId} of={say('id')} />],
              [say('email'), data.email ?? say('none')],
              [say('plan'), data.plan],
              [say('created'), <When key="created" at={data.createdAt} />],
            ]}
          />
        </Panel>
        <Panel title={say('enforcement')}>
          <Facts
            facts={[
              [say('consentMode'), data.consentMode],
              [say('capsMode'), data.capsMode],
              [say('manifestPinning'), data.manifestPinning],
              [say('agentScopes'), data.enforceAgentScopes ? say('on') : say('off')],
              [say('delegation'), String(data.maxDelegationDepth ?? say('unlimited'))],
              [
                say('reconsent'),
                data.reconsentAfterDays ? say('days', { count: data.reconsentAfterDays }) : say('off'),
              ],
            ]}
          />
        </Panel>
      </div>
      <Branding />
    </Page>
  );
}
