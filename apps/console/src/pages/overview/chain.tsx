import { Button } from 'react-aria-components';
import { query } from '../../api/client.ts';
import { number, sayer } from '../../messages/language.ts';
import { Panel } from '../../parts/page.tsx';
import { Problem } from '../../parts/states.tsx';
import { When } from '../../parts/text.tsx';
import { Missing } from './card.tsx';

const say = sayer('overview');

/** The head of the audit chain, and its verification when the reader asks for it. */
export function Chain() {
  const head = query.useQuery('get', '/v1/audit/head');
  const check = query.useQuery('get', '/v1/audit/verify', {}, { enabled: false, gcTime: 0 });
  return (
    <Panel
      title={say('chain')}
      actions={
        <Button className="button" isPending={check.isFetching} onPress={() => void check.refetch()}>
          {check.isFetching ? say('verifying') : say('verify')}
        </Button>
      }
    >
      <Missing error={head.error} isPending={!head.data} />
      {head.data && (
        <p>
          {say('entries', { count: head.data.seq })} <When at={head.data.timestamp} />
        </p>
      )}
      {check.error && <Problem error={check.error} />}
      {check.data && (
        <p className={check.data.valid ? 'verdict good' : 'verdict bad'} role="status">
          {check.data.valid
            ? say('valid', { checked: number(check.data.checkedEntries) })
            : say('broken', { entry: check.data.firstBrokenAt ?? '', problem: check.data.problem ?? '' })}
        </p>
      )}
    </Panel>
  );
}
