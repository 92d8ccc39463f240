import { useState } from 'react';
import { api } from '../../api/client.ts';
import { number, sayer } from '../../messages/language.ts';
import { AllowedButton } from '../../parts/allowed-button.tsx';
import { announce } from '../../parts/announcer.tsx';
import { saveFile } from '../../parts/evidence.tsx';
import { Problem } from '../../parts/states.tsx';
import type { auditRoute } from '../routes.ts';

const say = sayer('audit');

type Filters = Omit<ReturnType<typeof auditRoute.useSearch>, 'cursor'>;

const PORTION = 500;
/** More would not fit into a browser's memory. A program exports without this bound. */
const MOST_PORTIONS = 100;

/** Writes exactly what the filters let through, whole entries with their hashes, a line for each. */
export function Export({ filters }: { readonly filters: Filters }) {
  const [done, count] = useState<number>();
  const [error, fail] = useState<unknown>();
  const run = async () => {
    fail(undefined);
    count(0);
    try {
      const lines: string[] = [];
      let cursor: string | null | undefined;
      for (let portion = 0; portion < MOST_PORTIONS && cursor !== null; portion += 1) {
        const query = { order: 'desc' as const, ...filters, limit: PORTION, ...(cursor && { cursor }) };
        const { data } = await api.GET('/v1/audit/entries', { params: { query } });
        lines.push(...(data?.entries ?? []).map((entry) => JSON.stringify(entry)));
        cursor = data?.nextCursor ?? null;
        count(lines.length);
      }
      saveFile(new Blob([`${lines.join('\n')}\n`], { type: 'application/x-ndjson' }), 'audit', 'ndjson');
      announce(say(cursor ? 'exportedFirst' : 'exported', { count: number(lines.length) }));
    } catch (failure) {
      fail(failure);
    }
    count(undefined);
  };
  return (
    <>
      <AllowedButton needs="export" isPending={done !== undefined} onPress={() => void run()}>
        {done === undefined ? say('export') : say('exporting', { count: number(done) })}
      </AllowedButton>
      {error !== undefined && <Problem error={error} title={say('notExported')} />}
    </>
  );
}
