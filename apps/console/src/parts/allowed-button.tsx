import type { ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { type Capability, useRoleNeeded } from '../session/roles.ts';

interface AllowedButtonProps {
  readonly needs: Capability;
  readonly onPress: () => void;
  readonly children: ReactNode;
  readonly className?: string;
  readonly isPending?: boolean;
}

/** A button that whoever lacks its capability sees disabled, with the role that has it. */
export function AllowedButton({
  needs,
  onPress,
  children,
  className = 'button',
  isPending = false,
}: AllowedButtonProps) {
  const role = useRoleNeeded(needs);
  return (
    <Button className={className} isDisabled={role !== undefined} isPending={isPending} onPress={onPress}>
      {children} {role !== undefined && <span className="aside">({role})</span>}
    </Button>
  );
}
