import { Link, type LinkProps, useRouter } from '@tanstack/react-router';
import {
  type ColumnDef,
  type ColumnVisibilityState,
  columnVisibilityFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  lazy,
  type ReactNode,
  Suspense,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Button } from 'react-aria-components';
import { sayer } from '../messages/language.ts';
import { useAddress } from './filters.tsx';
import { Live, type LiveOf } from './live.tsx';

const say = sayer('table');
const features = tableFeatures({ columnVisibilityFeature });

export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand at the right. */
  readonly isNumber?: true;
  /** It stays when the reader chooses columns. */
  readonly isFixed?: true;
  /** It is shown only to a reader who chooses it. */
  readonly isExtra?: true;
}

interface TableProps<Row> {
  /** Says what the table lists, and names what the browser remembers of it. */
  readonly name: string;
  readonly label: string;
  readonly rows: readonly Row[];
  /** Keep the same array between renders: a new one rebuilds every cell. */
  readonly columns: readonly Column<Row>[];
  readonly rowId: (row: Row) => string;
  /** The page of a row. */
  readonly link?: (row: Row) => LinkProps;
  readonly filters?: ReactNode;
  /** What changes the list while it is shown. */
  readonly live?: LiveOf;
  readonly empty: ReactNode;
  /** Where the list goes on, and whether this is its beginning. */
  readonly paging?: { readonly cursor: string | undefined; readonly nextCursor: string | null | undefined };
}

const ROW_HEIGHT = 44;

/**
 * A page of a list as the server orders it. Only the rows in sight are drawn. `j` and `k` or the arrows go through the
 * rows, Enter opens one, and `.` goes to what can be done with it.
 */
export function Table<Row extends object>(props: TableProps<Row>) {
  const { name, label, rows, columns, rowId, link, filters, live, empty, paging } = props;
  const [columnVisibility, setColumnVisibility] = useRemembered(name, columns);
  const table = useTable({
    features,
    data: rows,
    columns: useMemo(() => columnsOf(columns), [columns]),
    getRowId: rowId,
    state: { columnVisibility },
    onColumnVisibilityChange: setColumnVisibility,
  });
  const shown = table.getRowModel().rows;
  const body = useRef<HTMLTableSectionElement>(null);
  const virtual = useRowsInSight(shown.length, body);
  const keys = useRowKeys(shown.length, virtual.scrollToIndex);
  const router = useRouter();
  const change = useAddress(); // what is new stands on the first page
  const items = virtual.getVirtualItems();
  const before = (items[0]?.start ?? 0) - virtual.options.scrollMargin;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0) + virtual.options.scrollMargin;

  return (
    <div className="listing">
      <div className="toolbar">
        {filters}
        {live && <Live {...live} load={paging?.cursor === undefined ? live.load : () => change({})} />}
        {shown.length > 0 && (
          <Columns columns={columns} hidden={columnVisibility} choose={setColumnVisibility} />
        )}
      </div>
      {shown.length === 0 ? (
        empty
      ) : (
        <div className="table-frame">
          <table aria-label={label} aria-rowcount={shown.length + 1}>
            <thead>
              {table.getHeaderGroups().map((group) => (
                <tr key={group.id} aria-rowindex={1}>
                  {group.headers.map((header) => (
                    <th key={header.id} scope="col" className={alignment(columns, header.id)}>
                      <table.FlexRender header={header} />
                    </th>
                  ))}
                </tr>
              ))}
            </thead>
            <tbody ref={body} onKeyDown={keys.onKeyDown}>
              {before > 0 && <Gap height={before} />}
              {items.map(({ index }) => {
                const row = shown[index];
                if (!row) return null;
                const to = link?.(row.original);
                return (
                  <tr
                    key={row.id}
                    ref={virtual.measureElement}
                    data-index={index}
                    aria-rowindex={index + 2}
                    tabIndex={index === keys.current ? 0 : -1}
                    onFocus={() => keys.at(index)}
                    {...(to && { className: 'opens', onClick: opening(() => void router.navigate(to)) })}
                  >
                    {row.getVisibleCells().map((cell, at) => (
                      <td
                        key={cell.id}
                        className={alignment(columns, cell.column.id)}
                        data-label={columns.find(({ id }) => id === cell.column.id)?.header}
                      >
                        {at === 0 && to ? (
                          <Link {...to} className="row-link">
                            <table.FlexRender cell={cell} />
                          </Link>
                        ) : (
                          <table.FlexRender cell={cell} />
                        )}
                      </td>
                    ))}
                  </tr>
                );
              })}
              {after > 0 && <Gap height={after} />}
            </tbody>
          </table>
        </div>
      )}
      {paging && <Paging {...paging} />}
    </div>
  );
}

const columnsOf = <Row extends object>(columns: readonly Column<Row>[]): ColumnDef<typeof features, Row>[] =>
  columns.map(({ id, header, cell, isFixed }) => ({
    id,
    header,
    cell: ({ row }) => cell(row.original),
    ...(isFixed && { enableHiding: false }),
  }));

const alignment = <Row,>(columns: readonly Column<Row>[], id: string) =>
  columns.find((column) => column.id === id)?.isNumber ? 'number' : undefined;

/** Room for the rows that are not drawn. */
const Gap = ({ height }: { readonly height: number }) => (
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: the row takes no focus.
  <tr aria-hidden="true" className="gap">
    <td ref={(cell) => cell?.style.setProperty('height', `${height}px`)} />
  </tr>
);

/** A click anywhere in a row opens it, except on what has a use of its own, and after text was marked. */
const opening = (open: () => void) => (event: React.MouseEvent) => {
  const isOther = event.target instanceof Element && event.target.closest('a, button, input, select, dialog');
  if (!isOther && getSelection()?.isCollapsed !== false) open();
};

function useRowsInSight(count: number, body: React.RefObject<HTMLTableSectionElement | null>) {
  const [scrollMargin, setMargin] = useState(0);
  useLayoutEffect(() => {
    const top = body.current?.getBoundingClientRect().top;
    if (top !== undefined) setMargin(top + window.scrollY);
  }, [body]);
  return useWindowVirtualizer({ count, estimateSize: () => ROW_HEIGHT, overscan: 12, scrollMargin });
}

function useRowKeys(count: number, show: (index: number) => void) {
  const [current, at] = useState(0);
  const go = (body: HTMLElement, index: number) => {
    if (index < 0 || index >= count) return;
    at(index);
    show(index);
    requestAnimationFrame(() => body.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus());
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const { target, currentTarget: body, key } = event;
    if (!(target instanceof HTMLElement) || target.matches('input, select, textarea')) return;
    const row = target.closest<HTMLElement>('tr');
    const steps: Readonly<Record<string, number>> = {
      j: current + 1,
      ArrowDown: current + 1,
      k: current - 1,
      ArrowUp: current - 1,
      Home: 0,
      End: count - 1,
    };
    const step = steps[key];
    if (step !== undefined && !event.ctrlKey && !event.metaKey) go(body, step);
    else if (key === 'Enter' && target === row) row.querySelector<HTMLElement>('.row-link')?.click();
    else if (key === '.') row?.querySelector<HTMLElement>('button:not(.copy)')?.focus();
    else return;
    event.preventDefault();
  };
  return { current: Math.min(current, Math.max(0, count - 1)), at, onKeyDown };
}

interface ColumnsProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly hidden: ColumnVisibilityState;
  readonly choose: (visibility: ColumnVisibilityState) => void;
}

const ColumnsChooser = lazy(() => import('./columns-chooser.tsx'));

function Columns<Row>({ columns, hidden, choose }: ColumnsProps<Row>) {
  const [isOpen, open] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const free = columns.filter(({ isFixed }) => !isFixed);
  return (
    <>
      <Button
        ref={button}
        className="quiet-button columns-button"
        aria-expanded={isOpen}
        onPress={() => open(true)}
      >
        {say('columns')}
      </Button>
      {isOpen && (
        <Suspense>
          <ColumnsChooser
            triggerRef={button}
            columns={free}
            chosen={free.map(({ id }) => id).filter((id) => hidden[id] !== false)}
            choose={(ids) => choose(Object.fromEntries(free.map(({ id }) => [id, ids.includes(id)])))}
            close={() => open(false)}
          />
        </Suspense>
      )}
    </>
  );
}

/** Which columns the reader has hidden, kept by the browser. */
function useRemembered<Row>(name: string, columns: readonly Column<Row>[]) {
  const key = `columns:${name}`;
  const [visibility, set] = useState<ColumnVisibilityState>(() => ({
    ...Object.fromEntries(columns.filter(({ isExtra }) => isExtra).map(({ id }) => [id, false])),
    ...JSON.parse(localStorage.getItem(key) ?? '{}'),
  }));
  const change = (next: ColumnVisibilityState | ((held: ColumnVisibilityState) => ColumnVisibilityState)) => {
    const value = typeof next === 'function' ? next(visibility) : next;
    localStorage.setItem(key, JSON.stringify(value));
    set(value);
  };
  return [visibility, change] as const;
}

function Paging({ cursor, nextCursor }: NonNullable<TableProps<object>['paging']>) {
  const change = useAddress();
  if (cursor === undefined && !nextCursor) return null;
  return (
    <div className="paging">
      <Button
        className="button"
        isDisabled={cursor === undefined}
        onPress={() => change({ cursor: undefined })}
      >
        {say('first')}
      </Button>
      <Button
        className="button"
        isDisabled={!nextCursor}
        onPress={() => change({ cursor: nextCursor ?? undefined })}
      >
        {say('next')}
      </Button>
    </div>
  );
}
