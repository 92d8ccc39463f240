import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import {
  Autocomplete,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
  useFilter,
} from 'react-aria-components';
import { sayer } from '../messages/language.ts';
import { navigation } from './navigation.ts';
import { placeOf } from './places.ts';

const say = sayer('palette');
const sayPage = sayer('navigation');

/** Every page by its name, and any record by its id. */
export default function Palette({ close }: { readonly close: () => void }) {
  const router = useRouter();
  const { contains } = useFilter({ sensitivity: 'base' });
  const [typed, type] = useState('');
  const place = placeOf(typed.trim());
  const go = (href: string) => {
    close();
    router.history.push(href);
  };

  return (
    <ModalOverlay className="overlay overlay-top" isDismissable isOpen onOpenChange={close}>
      <Modal className="palette">
        <Dialog aria-label={say('title')}>
          <Autocomplete inputValue={typed} onInputChange={type} filter={contains}>
            <SearchField aria-label={say('label')} autoFocus>
              <Input placeholder={say('placeholder')} />
            </SearchField>
            <Menu
              aria-label={say('results')}
              onAction={(key) => go(String(key))}
              renderEmptyState={() => <p className="aside">{say('nothing')}</p>}
            >
              {place && (
                <MenuItem id={place.href} textValue={typed}>
                  {say('open', { what: say(place.kind) })} <code>{typed.trim()}</code>
                </MenuItem>
              )}
              {navigation.map(({ group, pages }) => (
                <MenuSection key={group}>
                  <Header>{sayPage(group)}</Header>
                  {pages.map(({ to, name }) => (
                    <MenuItem key={to} id={hrefOf(to)} textValue={sayPage(name)}>
                      {sayPage(name)}
                    </MenuItem>
                  ))}
                </MenuSection>
              ))}
            </Menu>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

const hrefOf = (to: string) => `/console${to === '/' ? '' : to}`;
