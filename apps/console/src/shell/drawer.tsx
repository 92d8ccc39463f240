import { Button, Dialog, Modal, ModalOverlay } from 'react-aria-components';
import { sayer } from '../messages/language.ts';
import { Pages } from './pages.tsx';

const say = sayer('shell');

/** The navigation over a narrow page. */
export default function Drawer({ close }: { readonly close: () => void }) {
  return (
    <ModalOverlay className="overlay overlay-side" isDismissable isOpen onOpenChange={close}>
      <Modal className="drawer">
        <Dialog aria-label={say('pages')}>
          <nav aria-label={say('pages')}>
            <Button className="quiet-button" onPress={close}>
              {say('closeMenu')}
            </Button>
            <Pages onGo={close} />
          </nav>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
