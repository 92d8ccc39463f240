import { useState } from 'react';
import { Button, Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { sayer } from '../messages/language.ts';
import { announce } from './announcer.tsx';
import type { ConfirmProps } from './confirm.tsx';
import { Problem } from './states.tsx';

const say = sayer('confirm');

/** The question of `Confirm`. */
export default function ConfirmDialog(props: ConfirmProps) {
  const { isOpen, close, title, children, action, run, done, isHarmless } = props;
  const [state, set] = useState<{ isBusy?: true; isDone?: true; error?: unknown }>({});
  const leave = () => {
    set({});
    close();
  };
  const confirm = async () => {
    set({ isBusy: true });
    try {
      await run();
      announce(say('done'));
      if (done === undefined) leave();
      else set({ isDone: true });
    } catch (error) {
      set({ error });
    }
  };
  return (
    <ModalOverlay className="overlay" isOpen={isOpen} onOpenChange={leave}>
      <Modal className="dialog">
        <Dialog role="alertdialog">
          <Heading slot="title">{state.isDone ? done?.title : title}</Heading>
          {state.isDone ? done?.body : children}
          {state.error !== undefined && <Problem error={state.error} />}
          <div className="buttons">
            <Button className="button" onPress={leave}>
              {state.isDone ? say('close') : say('cancel')}
            </Button>
            {!state.isDone && (
              <Button
                className={isHarmless ? 'button strong' : 'button danger'}
                onPress={() => void confirm()}
                isPending={state.isBusy === true}
              >
                {state.isBusy ? say('working') : action}
              </Button>
            )}
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
