import { type RefObject, useState } from 'react';
import { Autocomplete, Dialog, Input, Menu, MenuItem, Popover, SearchField } from 'react-aria-components';
import { query } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { ShortId } from '../../parts/text.tsx';
import { useSettled } from './known.tsx';

const say = sayer('policy');

interface AgentChoicesProps {
  readonly triggerRef: RefObject<HTMLButtonElement | null>;
  readonly choose: (agentId: string) => void;
  readonly close: () => void;
}

/** Agents by name. An id can be pasted, also one that no agent has, which the field then says. */
export default function AgentChoices({ triggerRef, choose, close }: AgentChoicesProps) {
  const [typed, type] = useState('');
  const wanted = useSettled(typed.trim());
  const { data, isPending } = query.useQuery('get', '/v1/agents', {
    params: { query: { limit: 20, ...(wanted !== '' && { name: wanted }) } },
  });
  const isId = wanted.startsWith('ag_');
  return (
    <Popover
      className="popover palette choices"
      placement="bottom start"
      triggerRef={triggerRef}
      isOpen
      onOpenChange={close}
    >
      <Dialog aria-label={say('chooseAgent')}>
        <Autocomplete inputValue={typed} onInputChange={type}>
          <SearchField aria-label={say('chooseAgent')} autoFocus>
            <Input placeholder={say('agentHint')} maxLength={200} />
          </SearchField>
          <Menu
            aria-label={say('chooseAgent')}
            onAction={(key) => {
              choose(String(key));
              close();
            }}
            renderEmptyState={() => <p className="aside">{say(isPending ? 'searching' : 'noneFound')}</p>}
          >
            {isId && (
              <MenuItem id={wanted} textValue={wanted}>
                {say('useId')} <ShortId id={wanted} />
              </MenuItem>
            )}
            {data?.agents.map(({ agentId, name }) => (
              <MenuItem key={agentId} id={agentId} textValue={name}>
                <bdi>{name}</bdi> <span className="aside">{agentId.slice(-6)}</span>
              </MenuItem>
            ))}
          </Menu>
        </Autocomplete>
      </Dialog>
    </Popover>
  );
}
