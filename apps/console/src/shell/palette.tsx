import { useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
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
import { query } from '../api/client.ts';
import { sayer, statusWord } from '../messages/language.ts';
import { navigation } from './navigation.ts';
import { failedRequest, isRequestId, placeOf, placesOf } from './places.ts';

const say = sayer('palette');
const sayPage = sayer('navigation');

/** Every page by its name, and records by their id, agents by name, people by the beginning of theirs. */
export default function Palette({ close }: { readonly close: () => void }) {
  const router = useRouter();
  const { contains } = useFilter({ sensitivity: 'base' });
  const [typed, type] = useState('');
  const wanted = typed.trim();
  const place = placeOf(wanted);
  const { data, error, isPending } = useFound(wanted);
  const failed = useFailedRequest(wanted);
  const found = placesOf(data?.results ?? [], place?.href);
  const nothing = error ? 'noSearch' : isPending && wanted !== '' ? 'searching' : 'nothing';
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
              <Input placeholder={say('placeholder')} maxLength={LONGEST} />
            </SearchField>
            <Menu
              aria-label={say('results')}
              onAction={(key) => go(String(key))}
              renderEmptyState={() => <p className="aside">{say(nothing)}</p>}
            >
              {place && (
                <MenuItem id={place.href} textValue={typed}>
                  {say('open', { what: say(place.kind) })} <code>{wanted}</code>
                </MenuItem>
              )}
              {failed && (
                <MenuItem id={failedRequest(wanted)} textValue={typed}>
                  {say('open', { what: say('failedRequest') })} <code>{wanted}</code>
                </MenuItem>
              )}
              {found.length > 0 && (
                <MenuSection>
                  <Header>{say('found')}</Header>
                  {found.map(({ href, kind, title, hint }) => (
                    <MenuItem key={href} id={href} textValue={typed}>
                      <bdi>{title}</bdi> <span className="aside">{`${say(kind)} · ${statusWord(hint)}`}</span>
                    </MenuItem>
                  ))}
                </MenuSection>
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

/** While the reader types, nothing is asked, and a question that is on its way is given up. */
const PAUSE_MS = 200;
/** The longest text that the service looks for. */
const LONGEST = 256;

/** @returns whether this is the id of a request that failed */
function useFailedRequest(wanted: string): boolean {
  const requestId = isRequestId(wanted) ? wanted : '';
  const { isSuccess } = query.useQuery(
    'get',
    '/v1/requests/{requestId}',
    { params: { path: { requestId } } },
    { enabled: requestId !== '', retry: false },
  );
  return isSuccess;
}

function useFound(wanted: string) {
  const [settled, settle] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => settle(wanted), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  const isWanted = wanted !== '' && wanted === settled;
  return query.useQuery('get', '/v1/search', { params: { query: { q: wanted } } }, { enabled: isWanted });
}
