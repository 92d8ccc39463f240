import { query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { GrantStatus } from '../../parts/agents.tsx';
import { Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { Id, When } from '../../parts/text.tsx';

const say = sayer('grant');

/** The newest tokens. Their texts are nowhere: the service keeps ids only. */
export function Tokens({ grant: { grantId, agentStatus } }: { readonly grant: Schemas['Grant'] }) {
  const { data, error } = query.useQuery('get', '/v1/grants/{id}/tokens', {
    params: { path: { id: grantId }, query: { limit: 10 } },
  });
  return (
    <Panel title={say('tokens')}>
      {error && <Problem error={error} />}
      {!data && !error && <Loading />}
      {data?.tokens.length === 0 && <p className="aside">{say('noTokens')}</p>}
      {data && data.tokens.length > 0 && (
        <ul className="rows">
          {data.tokens.map(({ tokenId, status, issuedAt, expiresAt }) => (
            <li key={tokenId}>
              <Id id={tokenId} of={say('token')} />
              <GrantStatus status={status} agentStatus={agentStatus} />
              <span>
                {say('issued')} <When at={issuedAt} />
              </span>
              <span>
                {say('expires')} <When at={expiresAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
