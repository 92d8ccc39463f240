import { visible } from '@behest/protocol/arguments/text';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { api, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { useActorNames } from '../../parts/agents.tsx';
import { announce } from '../../parts/announcer.tsx';
import { Code } from '../../parts/code.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Facts, Panel } from '../../parts/page.tsx';
import { When } from '../../parts/text.tsx';
import { useSession } from '../../session/session.ts';

const say = sayer('changes');

export type Change = Schemas['LooseningChange'];

/** A line for each field that would be another one, and other parts as they are. */
const linesOf = (difference: Readonly<Record<string, unknown>>): string =>
  Object.entries(difference)
    .map(([name, value]) => {
      if (name === 'changes') return linesOf(Object(value));
      const { from, to } = Object(value);
      const isBoth = from !== undefined && to !== undefined;
      return `${name}: ${isBoth ? `${JSON.stringify(from)} → ${JSON.stringify(to)}` : JSON.stringify(value, null, 2)}`;
    })
    .join('\n');

/** What a proposer wrote must not turn the letters around it. In JSON, such a character may stand as its escape. */
const shown = (text: string) => text.split('\n').map(visible).join('\n');

/** A change that waits: what would be different, who wants it, and the two answers. */
export function OpenChange({ change }: { readonly change: Change }) {
  const nameOf = useActorNames();
  const { about, difference, body, approvedBy, needed, proposedBy, createdAt, expiresAt } = change;
  const given = approvedBy.map(nameOf).join(', ') || say('nobody');
  return (
    <Panel title={about} actions={<Answers change={change} />}>
      <Facts
        facts={[
          [say('by'), <bdi key="by">{nameOf(proposedBy)}</bdi>],
          [say('agreed'), `${given} (${say('agreedOf', { given: approvedBy.length, needed })})`],
          [say('asked'), <When key="asked" at={createdAt} />],
          [say('ends'), <When key="ends" at={expiresAt} />],
        ]}
      />
      <h3>{say('difference')}</h3>
      <Code text={shown(linesOf(difference))} label={say('difference')} />
      {body && (
        <details>
          <summary>{say('request')}</summary>
          <Code
            text={shown(`${change.operation}\n${JSON.stringify({ ...change.params, ...body }, null, 2)}`)}
            label={say('request')}
          />
        </details>
      )}
    </Panel>
  );
}

function Answers({ change }: { readonly change: Change }) {
  const [asked, ask] = useState<'approve' | 'withdraw'>();
  const queries = useQueryClient();
  const { member, capabilities } = useSession();
  const { changeId, about, hash, proposedBy, approvedBy } = change;
  const isOwn = [proposedBy, ...approvedBy].includes(`member:${member.memberId}`);
  const mayChange = capabilities.includes('configure');
  const params = { path: { id: changeId } };
  const readAgain = () => queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'get' });
  const approve = async () => {
    const { data } = await api.POST('/v1/changes/{id}/approve', { params, body: { hash } });
    await readAgain();
    if (data) announce(say(`st-${data.status}`));
  };
  const withdraw = async () => {
    await api.DELETE('/v1/changes/{id}', { params });
    await readAgain();
    announce(say('st-withdrawn'));
  };
  const why = !mayChange ? say('readOnly') : isOwn ? say('own') : undefined;
  return (
    <span className="actions">
      {why && <span className="aside">{why}</span>}
      <Button
        className="button strong"
        aria-label={say('approveOne', { about })}
        isDisabled={why !== undefined}
        onPress={() => ask('approve')}
      >
        {say('approve')}
      </Button>
      <Button
        className="button"
        aria-label={say('withdrawOne', { about })}
        isDisabled={!mayChange}
        onPress={() => ask('withdraw')}
      >
        {say('withdraw')}
      </Button>
      <Confirm
        isOpen={asked !== undefined}
        close={() => ask(undefined)}
        title={say(asked === 'withdraw' ? 'withdrawOne' : 'approveOne', { about })}
        action={say(asked ?? 'approve')}
        isHarmless
        run={asked === 'withdraw' ? withdraw : approve}
      >
        <p>{say(asked === 'withdraw' ? 'withdrawText' : 'approveText')}</p>
      </Confirm>
    </span>
  );
}
