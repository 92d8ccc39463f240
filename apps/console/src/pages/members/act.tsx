import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Button } from 'react-aria-components';
import { Confirm } from '../../parts/confirm.tsx';

interface ActProps {
  readonly text: string;
  /** The button's name for a reader who does not see its row. */
  readonly label: string;
  readonly title: string;
  readonly children: ReactNode;
  readonly run: () => Promise<unknown>;
  readonly isHarmless?: boolean;
}

/** A row's button that asks for confirmation, acts, and reads the page again. */
export function Act({ text, label, title, children, run, isHarmless = false }: ActProps) {
  const [isOpen, open] = useState(false);
  const queries = useQueryClient();
  return (
    <>
      <Button
        className={isHarmless ? 'button small' : 'stop small'}
        aria-label={label}
        onPress={() => open(true)}
      >
        {text}
      </Button>
      <Confirm
        isOpen={isOpen}
        close={() => open(false)}
        title={title}
        action={text}
        isHarmless={isHarmless}
        run={async () => {
          await run();
          await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'get' });
        }}
      >
        {children}
      </Confirm>
    </>
  );
}
