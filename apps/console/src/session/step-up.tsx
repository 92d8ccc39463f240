import { useState } from 'react';
import { Button, Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { sayer } from '../messages/language.ts';
import { Problem } from '../parts/states.tsx';
import { stepUp } from './passkey.ts';
import { useSession } from './session.ts';

const say = sayer('stepUp');

interface StepUpProps {
  /** @param isDone whether the member has shown their passkey */
  readonly end: (isDone: boolean) => void;
}

/** Asks the member for their passkey when the service wants a fresh one. The refused request then goes once more. */
export default function StepUp({ end }: StepUpProps) {
  const [error, fail] = useState<unknown>();
  const { openedBy } = useSession();
  const confirm = async () => {
    try {
      await stepUp();
      end(true);
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <ModalOverlay className="overlay overlay-last" isOpen onOpenChange={() => end(false)}>
      <Modal className="dialog">
        <Dialog role="alertdialog">
          <Heading slot="title">{say('title')}</Heading>
          <p>{say('text')}</p>
          {openedBy === 'sso' && <p className="aside">{say('ofOrganisation')}</p>}
          {error !== undefined && <Problem error={error} title={say('failed')} />}
          <div className="buttons">
            <Button className="button" onPress={() => end(false)}>
              {say('cancel')}
            </Button>
            <Button className="button strong" onPress={() => void confirm()} autoFocus>
              {say('confirm')}
            </Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
