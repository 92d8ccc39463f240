import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useMemo, useState } from 'react';
import { api, query, type Schemas } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { sayer } from '../../messages/language.ts';
import { AllowedButton } from '../../parts/allowed-button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Page, Panel } from '../../parts/page.tsx';
import { RuleChange } from '../../parts/rules/change.tsx';
import { type Fault, readJson } from '../../parts/rules/json.ts';
import { JsonEditor } from '../../parts/rules/json-editor.tsx';
import { Versions } from '../../parts/rules/versions.tsx';
import { PageLoading, PageProblem } from '../../parts/states.tsx';
import { When } from '../../parts/text.tsx';
import { manifestRoute } from '../routes.ts';
import { checkManifest, refusedPlaces, templateOf, toolsOf, withTool } from './check.ts';
import { Tools } from './tools.tsx';
import { Wider } from './wider.tsx';

const say = sayer('manifest');

const textOf = (manifest: object) => JSON.stringify(manifest, null, 2);

export function Manifest() {
  const { connector } = manifestRoute.useParams();
  const read = query.useQuery('get', '/v1/manifests/{connector}', { params: { path: { connector } } });
  const isNew = read.error instanceof ApiError && read.error.code === 'NOT_FOUND';
  if (read.error && !isNew) return <PageProblem error={read.error} reset={() => void read.refetch()} />;
  if (!read.data && !isNew) return <PageLoading />;
  return <Loaded key={connector} connector={connector} held={isNew ? undefined : read.data} />;
}

interface LoadedProps {
  readonly connector: string;
  readonly held: Schemas['ConnectorManifest'] | undefined;
}

function Loaded({ connector, held }: LoadedProps) {
  const { version } = manifestRoute.useSearch();
  const queries = useQueryClient();
  const path = { connector };
  const saved = held ? textOf(held.manifest) : '';
  const [text, write] = useState(() => saved || textOf(templateOf(connector)));
  const [refusal, refuse] = useState<{ readonly text: string; readonly faults: readonly Fault[] }>();
  const versions = query.useQuery(
    'get',
    '/v1/manifests/{connector}/versions',
    { params: { path, query: { limit: 20 } } },
    { retry: false },
  );
  const newest = versions.data?.versions[0];
  const settled = useDeferredValue(text);
  const { value, mark, lineOf } = useMemo(() => readJson(settled), [settled]);
  const { manifest, faults } = useMemo(() => checkManifest(value, connector), [value, connector]);
  const before = useMemo(() => held && checkManifest(held.manifest, connector).manifest, [held, connector]);
  // The table holds fields, which show at once what is chosen in them.
  const shown = useMemo(() => readJson(text).value, [text]);
  const rows = useMemo(() => toolsOf(shown, manifest, before), [shown, manifest, before]);
  const refused = refusal?.text === settled ? refusal.faults : [];
  const isSound = manifest !== undefined && refused.length === 0 && settled === text;
  const draft = isSound ? Object(value) : undefined;

  const changeTool = (name: string, members: Readonly<Record<string, unknown>>) =>
    write((held) => {
      const read = readJson(held);
      return read.mark ? held : textOf(withTool(read.value, name, members));
    });
  const replay = async (span: { readonly since: string; readonly until: string }) => {
    const { data } = await api.POST('/v1/manifests/{connector}/replay', {
      params: { path },
      body: { candidate: draft, ...span },
    });
    if (!data) throw new Error('The service answered without a report.');
    const changes = data.changes.map((each) => ({
      ...each,
      before: `${each.tool}: ${verdict(each.before)}`,
      after: verdict(each.after),
    }));
    return { ...data, changes };
  };
  const save = async () => {
    const { data } = await api.PUT('/v1/manifests/{connector}', { params: { path }, body: draft });
    if (data && 'manifest' in data) write(textOf(data.manifest));
    await queries.invalidateQueries({
      predicate: ({ queryKey }) => String(queryKey[1]).startsWith('/v1/manifests'),
    });
  };

  return (
    <Page
      trail={<Link to="/manifests">{say('all')}</Link>}
      title={connector}
      lead={
        held ? (
          <>
            {say('versionOf', { version: held.version })}, {say('changed')} <When at={held.updatedAt} />
          </>
        ) : (
          say('draft')
        )
      }
      actions={held && <Remove connector={connector} />}
    >
      <Tools rows={rows} faults={[...faults, ...refused]} change={changeTool} />
      <Panel title={say('editor')}>
        <JsonEditor
          label={say('json')}
          text={text}
          change={write}
          marks={
            mark
              ? [mark]
              : [...faults, ...refused].map((fault) => ({ line: lineOf(fault.path), text: fault.text }))
          }
        />
      </Panel>
      <RuleChange
        draft={isSound ? textOf(draft) : text}
        saved={saved}
        isValid={isSound}
        version={newest && titleOf(newest)}
        replay={replay}
        save={save}
        refused={(error) => refuse({ text, faults: refusedPlaces(error) })}
      >
        {held && manifest && (
          <Wider connector={connector} tools={rows.filter(({ change }) => change !== undefined)} />
        )}
      </RuleChange>
      {versions.data && (
        <Versions
          versions={versions.data.versions.map((each) => ({
            number: each.revision,
            title: titleOf(each),
            at: each.createdAt,
            actor: each.actor,
            text: textOf(each.manifest),
          }))}
          error={null}
          chosen={version}
          draft={text}
          take={write}
        />
      )}
    </Page>
  );
}

const titleOf = ({ revision, version }: { readonly revision: number; readonly version: string }) =>
  say('revision', { count: revision, version });

function verdict(denial: { readonly reasonCode: string; readonly subReason: string | null } | null): string {
  if (denial === null) return say('allowed');
  const { reasonCode, subReason } = denial;
  if (reasonCode === 'decision_required' && subReason === null) return say('waits');
  return say('denied', { reason: subReason ?? reasonCode });
}

function Remove({ connector }: { readonly connector: string }) {
  const [isAsking, ask] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <>
      <AllowedButton needs="configure" onPress={() => ask(true)}>
        {say('delete')}
      </AllowedButton>
      <Confirm
        isOpen={isAsking}
        close={() => ask(false)}
        title={say('deleteTitle', { name: connector })}
        action={say('deleteAction')}
        run={async () => {
          await api.DELETE('/v1/manifests/{connector}', { params: { path: { connector } } });
          await navigate({ to: '/manifests', ignoreBlocker: true });
          await queries.invalidateQueries({ queryKey: ['get', '/v1/manifests'] });
        }}
      >
        <p>{say('deleteText')}</p>
      </Confirm>
    </>
  );
}
