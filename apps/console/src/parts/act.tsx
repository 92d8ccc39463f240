import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Button } from 'react-aria-components';
import { type Capability, useRoleNeeded } from '../session/roles.ts';
import { Confirm } from './confirm.tsx';

interface ActProps {
  readonly text: string;
  /** The button's name for a reader who does not see its row. */
  readonly label: string;
  readonly title: string;
  readonly children: ReactNode;
  readonly run: () => Promise<unknown>;
  /** What follows, where the page is of something that is then gone. */
  readonly after?: () => void;
  /** Who lacks it sees the button disabled, with the role that has it. */
  readonly needs?: Capability;
  readonly isHarmless?: boolean;
  readonly isLarge?: boolean;
}

/** A row's button that asks for confirmation, acts, and reads the page again. */
export function Act(props: ActProps) {
  const { text, label, title, children, run, after, needs, isHarmless = false, isLarge = false } = props;
  const [isOpen, open] = useState(false);
  const queries = useQueryClient();
  const role = useRoleNeeded(needs);
  const kind = isHarmless ? 'button' : 'stop';
  return (
    <>
      <Button
        className={isLarge ? kind : `${kind} small`}
        {...(role === undefined && { 'aria-label': label })}
        isDisabled={role !== undefined}
        onPress={() => open(true)}
      >
        {text} {role !== undefined && <span className="aside">({role})</span>}
      </Button>
      <Confirm
        isOpen={isOpen}
        close={() => open(false)}
        title={title}
        action={text}
        isHarmless={isHarmless}
        run={async () => {
          await run();
          if (after) after();
          else await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'get' });
        }}
      >
        {children}
      </Confirm>
    </>
  );
}
