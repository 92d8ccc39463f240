import { query } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { Id, Status, When } from '../../parts/text.tsx';

const say = sayer('grant');

/** The newest tokens. Their texts are nowhere: the service keeps ids only. */
export function Tokens({ grantId }: { readonly grantId: string }) {
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
              <Status status={status} />
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
