import { lazy, type ReactNode, Suspense } from 'react';

export interface ConfirmProps {
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly title: string;
  /** What falls, before it does. */
  readonly children: ReactNode;
  /** The verb on the button. */
  readonly action: string;
  readonly run: () => Promise<unknown>;
  /** What stands here once it is done, with what undoes it. Without it, the dialog closes. */
  readonly done?: { readonly title: string; readonly body: ReactNode };
  readonly isHarmless?: boolean;
}

const ConfirmDialog = lazy(() => import('./confirm-dialog.tsx'));

/** Names what falls, asks once, and says that it is done. Its code comes with the first question. */
export const Confirm = (props: ConfirmProps) =>
  props.isOpen && (
    <Suspense>
      <ConfirmDialog {...props} />
    </Suspense>
  );
