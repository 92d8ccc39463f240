import { type ReactNode, useState } from 'react';
import { Button, Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { sayer } from '../messages/language.ts';
import { Problem } from './states.tsx';
import { Copy } from './text.tsx';

const say = sayer('once');

interface Once<Made> {
  /** What is shown now, and is nowhere afterwards. */
  readonly made?: Made;
  readonly error?: unknown;
  readonly isBusy?: true;
}

/** Makes something that is shown once. */
export function useOnce<Made>() {
  const [once, set] = useState<Once<Made>>({});
  const run = async (make: () => Promise<Made | undefined>) => {
    set({ isBusy: true });
    try {
      const made = await make();
      set(made === undefined ? {} : { made });
    } catch (error) {
      set({ error });
    }
  };
  return { ...once, run };
}

interface OnceDialogProps {
  readonly title: string;
  readonly once: Once<unknown>;
  readonly role?: 'alertdialog';
  readonly close: () => void;
  readonly children: ReactNode;
}

/** A dialog that makes a secret. From the request for it on, only the button below it closes the dialog. */
export function OnceDialog({ title, once: { made, error, isBusy }, role, close, children }: OnceDialogProps) {
  const isKept = made !== undefined || isBusy === true;
  return (
    <ModalOverlay
      className="overlay"
      isOpen
      isKeyboardDismissDisabled={isKept}
      onOpenChange={() => !isKept && close()}
    >
      <Modal className="dialog">
        <Dialog {...(role && { role })}>
          <Heading slot="title">{title}</Heading>
          {error !== undefined && <Problem error={error} />}
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

interface SecretOnceProps {
  readonly secret: string;
  /** What it is, for a reader who does not see what stands beside the button that copies it. */
  readonly of: string;
  readonly text: string;
  readonly close: () => void;
}

/** A secret in a dialog that is nowhere afterwards. */
export const SecretOnce = ({ secret, of, text, close }: SecretOnceProps) => (
  <>
    <p>{text}</p>
    <p className="secret">
      <code>{secret}</code> <Copy text={secret} of={of} />
    </p>
    <div className="buttons">
      <Button className="button strong" onPress={close}>
        {say('copied')}
      </Button>
    </div>
  </>
);
